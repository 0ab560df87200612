import pytest

import tiers
from evidentia.language.predicates import has_main_verb, says_something


@tiers.one_test
@pytest.mark.parametrize(
    "text",
    [
        "Leave is paid in full",
        "The line manager decides on an application within 10 working days",
        "The portal passes the application to the department head",
        "The manager usually decides within a week",
        "Every department plans its own budget of 500 euros",
        "Managers approve the leave of their team",
        "The head approved the request",
        "Leave lapses after 3 months.",
        "HR answers within 5 days.",
        "Employees travel in economy class.",
        "The office opened in May 2024.",
        "In an emergency, the manager decides on the request.",
        # a clause within has its verb, and the sentence another one
        "Employees who have worked 5 years get 20 days",
        "If you are ill, you must call",
        "If necessary, employees must call",
        "The request, once made, must be approved",
        "Employees may also travel in May",
        "After five years, employees receive 20 days",
        # other languages
        "Die Angestellten bekommen 15 Tage Urlaub.",
        "员工每年有15天年假。",
    ],
)
def test_a_sentence_stands_by_itself(text: str) -> None:
    assert says_something(text)


@tiers.one_test
@pytest.mark.parametrize(
    "text",
    [
        "15 days of annual leave",
        "15 days of annual leave.",
        "15 days for employees who have worked 5 years",
        "15 days for employees who may have worked 5 years",
        "15 days if you are permanent.",
        "Right to take 5 days of leave",
        "The costs of travel up to 500 euros",
        "Includes 15 days of leave",
        "Overtime pay",
        "Parental leave",
        "Employees hired after 2020",
        "Employees hired after 2020 in May.",
        "Meals provided by the hotel, up to 12 euros.",
        "The first two weeks of leave",
        "Working hours of 40 hours per week",
        "Flexible working hours in summer",
        "Managers working in the office",
        "Home office up to 2 days per week.",
        "Medical certificate for absences of more than 3 days.",
        "Lunch 12 euros.",
        "15 Tage Urlaub pro Jahr.",
        "Urlaub und Freizeit ohne Ende",
        "The leave, ",
        "...",
    ],
)
def test_a_fragment_does_not(text: str) -> None:
    assert not says_something(text)


def test_a_main_verb_is_one_that_is_known() -> None:
    assert has_main_verb("The manager must decide")
    assert not has_main_verb("The manager decides on the request")
