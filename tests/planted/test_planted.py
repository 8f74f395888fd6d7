"""Each planted fault still applies, and the tests that kill it exist."""

from tests.planted.faults import GONE, ROOT, faults, is_defined, table

FAULTS = faults()


def test_headers_name_the_fault_and_tests_that_are_there() -> None:
    assert FAULTS
    for fault in FAULTS.values():
        assert [test for test in fault.tests if (ROOT / test).exists()], fault.name


def test_a_fault_applies_or_its_code_is_listed_as_gone() -> None:
    wrong = [name for name, fault in FAULTS.items() if fault.applies(ROOT) == (name in GONE)]
    assert wrong == [], "Make the patches anew, or add the faults to `GONE` and say why."


def test_the_newest_table_has_each_fault_and_names_tests_that_are_there() -> None:
    recorded = list(table().values())[-1]["faults"]
    assert not FAULTS.keys() - recorded.keys() - GONE.keys()
    ids = {test for name in FAULTS.keys() - GONE.keys() for test in recorded[name]["killers"]}
    assert not [test for test in ids if not is_defined(test)]
