"""How much each kind of habit says about the next step."""

from pydantic import Field

from treering.core.values import Value


class AdviceWeights(Value):
    """How much each kind of habit says about the next step. Learned on the older half of recorded sessions."""

    weights: tuple[float, ...] = (1.0, 0.5, 0.3)
    """Of the last step, the last two, the last three."""
    near: float = Field(default=0.2, ge=0)
    """Of each earlier step by itself."""
    feature: float = Field(default=0.2, ge=0)
    """Of each feature of the task, such as its type."""
    own_following: float = Field(default=0.3, ge=0)
    """Of what followed the same step earlier in this very run."""
    own_use: float = Field(default=0.4, ge=0)
    """Of what this run did at all."""
    own_new: float = Field(default=0.5, ge=0, le=1)
    """Of a step that only this run did: how likely it is, as a part of how often the run did it here."""
    own_memory: int = Field(default=30, ge=1)
    """Steps of the run that are looked at for that."""
    prior: float = Field(default=5.0, gt=0)
    """Times that a context must be seen to count half: habits seen rarely lean on the wider ones."""
    own_prior: float = Field(default=4.0, gt=0)
    failure_prior: float = Field(default=3.0, gt=0)
    """The same for failures that are alike."""
    failure_power: float = Field(default=2.0, gt=0)
    """How much more a failure counts that is more alike."""
    same_step: float = Field(default=0.2, ge=0)
    """What it adds to the likeness of two failures that the same step failed."""
    worked: float = Field(default=0.3, ge=0, le=1)
    """Share of a failure's weight that goes to the steps that led out of it, wherever they stood; the rest goes to the
    step that followed."""
