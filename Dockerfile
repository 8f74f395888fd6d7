# Moot in a container: docker build -t moot . ; docker run --env-file .env -v moot:/data moot
# HTTP mode: add -p 127.0.0.1:3000:3000, have something in front end TLS, and say so with
# MOOT_BEHIND_TLS=true in .env, or Moot does not start. Socket Mode needs neither (docs/deploy.md).
# It has no demonstration: the local Slack is a package of its own and is not copied.
# Writes only to /data, so `docker run --read-only --tmpfs /tmp` works.
# The base image has a version and no digest: a digest ties it to one architecture's build of one day,
# without Debian's security updates since. To pin it: --build-arg PYTHON=VERSION@sha256:DIGEST.
ARG PYTHON=3.11.14-slim-bookworm

FROM python:${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /build-venv && python -m venv /venv
WORKDIR /src
COPY requirements-extras.lock requirements-build.lock ./
RUN /build-venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r requirements-build.lock \
 && /venv/bin/pip install --no-cache-dir --require-hashes --no-deps -r requirements-extras.lock
COPY pyproject.toml README.md LICENSE manifest.yaml ./
COPY core core
COPY bot bot
RUN /build-venv/bin/python -m hatchling build -t wheel -d /wheel \
 && /venv/bin/pip install --no-cache-dir --no-index --no-deps /wheel/*.whl \
 && /venv/bin/pip uninstall --yes pip

FROM python:${PYTHON}
# Records of decisions are pushed with git (docs/landing.md). Its version is the distribution's, which
# gets Debian's security updates.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /data --no-create-home moot \
 && install -d -o moot -g moot /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/data \
    MOOT_DATABASE=/data/moot.db \
    MOOT_PORT=3000 \
    MOOT_LOG_FORMAT=json
WORKDIR /data
VOLUME /data
USER 10001
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["moot", "health"]
# An empty MOOT_HOST, as in a copied .env, means the container, not its loopback: nobody would be
# reached there.
ENTRYPOINT ["sh", "-c", "export MOOT_HOST=\"${MOOT_HOST:-0.0.0.0}\" && exec \"$@\"", "moot"]
CMD ["moot", "run"]
