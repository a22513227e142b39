"""Token usage of a working memory by section."""

from treering.core.values import Count, Value
from treering.task.items import items_of
from treering.task.sections import Section, Temperature
from treering.task.state import TaskState


class SectionUsage(Value):
    """Tokens of one section, in total and by temperature. `unseen` items are not shown."""

    section: Section
    tokens: Count
    budget: Count
    items: Count
    unseen: Count
    hot: Count = 0
    warm: Count = 0
    cold: Count = 0


class Usage(Value):
    """Tokens of a task against its budget."""

    tokens: Count
    budget: Count
    sections: tuple[SectionUsage, ...]

    def __getitem__(self, section: Section | str) -> SectionUsage:
        return self.sections[tuple(Section).index(Section(section))]


def usage(state: TaskState, old_after: int, total: int) -> Usage:
    state.sizes.count_estimated(state.text)
    items = items_of(state, old_after)
    sections = []
    for section in Section:
        mine = [item for item in items if item.section is section]
        by_warmth = {
            warmth.value: sum(state.sizes.of(item.id) for item in mine if item.temperature is warmth)
            for warmth in Temperature
        }
        sections.append(
            SectionUsage(
                section=section,
                tokens=state.sizes.totals[section],
                budget=state.budgets[section],
                items=len(mine),
                unseen=state.unseen(section),
                **by_warmth,
            )
        )
    return Usage(tokens=sum(each.tokens for each in sections), budget=total, sections=tuple(sections))
