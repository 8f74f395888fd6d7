// How far the reader has read each channel, kept in the browser.

/** Marks of one person in one workspace. */
export class ReadMarks {
  #marks = {};
  #key;

  /** @param {string} whose such as "T1/U1" */
  constructor(whose) {
    this.#key = `workspace-read/${whose}`;
    try {
      this.#marks = JSON.parse(localStorage.getItem(this.#key)) ?? {};
    } catch {
      // storage can be switched off: then everything is new after a reload
    }
  }

  /** The newest message that was on screen; "0" if none was. */
  of(channel) {
    return this.#marks[channel] ?? "0";
  }

  /** Remembers that everything up to this message was on screen. */
  read(channel, ts) {
    this.#marks[channel] = ts;
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#marks));
    } catch {
      // not kept then
    }
  }
}
