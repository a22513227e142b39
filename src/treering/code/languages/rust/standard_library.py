"""Tables of the standard library, as far as it passes types on: containers, options, results, iterators, cells."""

import re
from typing import NamedTuple

from treering.code.languages.rust.body import RustNode
from treering.code.languages.rust.resolved_types import EXT, ResolvedType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRANSPARENT = _words(
    "Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard ManuallyDrop Future NonNull Weak "
    "Peekable Rev Skip Take StepBy Fuse Cloned Copied Wrapping MappedMutexGuard OwnedMutexGuard Lazy LazyLock LazyCell "
    "JoinHandle BoxFuture LocalBoxFuture Ready"
)
"""Types that method calls see through to their type argument."""

SAME_AS = {
    **dict.fromkeys(
        _words(
            "Vec VecDeque HashSet BTreeSet BinaryHeap LinkedList SmallVec ArrayVec IndexSet FxHashSet ThinVec "
            "Receiver UnboundedReceiver Sender UnboundedSender SyncSender Slab Arena"
        ),
        "Vec",
    ),
    **dict.fromkeys(_words("HashMap BTreeMap IndexMap FxHashMap DashMap AHashMap"), "HashMap"),
    **dict.fromkeys(_words("Mutex RwLock"), "Mutex"),
    **dict.fromkeys(_words("RefCell Cell OnceCell OnceLock UnsafeCell"), "Cell"),
    **dict.fromkeys(
        _words(
            "Iterator IntoIterator DoubleEndedIterator ExactSizeIterator FusedIterator Stream Iter IterMut IntoIter "
            "Drain Range ParallelIterator"
        ),
        "Iter",
    ),
    **dict.fromkeys(_words("AsRef AsMut Into Borrow BorrowMut TryInto Deref DerefMut"), "Into"),
    "Option": "Option",
    "Poll": "Option",
    "Result": "Result",
    "Entry": "Entry",
    "OccupiedEntry": "Entry",
}
"""Types and traits that pass on what they contain, by the family whose rules they follow."""

_RULES = """
Option: unwrap expect unwrap_or unwrap_or_default unwrap_or_else get_or_insert insert unwrap_unchecked = 0
Option: get_or_insert_with = 0 <- .
Option: as_ref as_mut as_deref as_deref_mut take cloned copied or xor replace clone filter or_else = Self
Option: filter inspect is_some_and take_if is_none_or = Self <- 0
Option: map = Option<$> <- 0
Option: and_then = $ <- 0
Option: map_or map_or_else = $ <- 0
Option: and = @
Option: ok_or ok_or_else = Result<0>
Option: iter iter_mut into_iter = Iter<0>
Option: zip = Option<(0,@^)>
Option: flatten transpose = 0
Result: unwrap expect unwrap_or unwrap_or_default into_ok unwrap_unchecked = 0
Result: unwrap_or_else = 0 <- 1
Result: unwrap_err expect_err = 1
Result: as_ref as_mut clone as_deref cloned copied context with_context inspect_err = Self
Result: inspect is_ok_and = Self <- 0
Result: ok = Option<0>
Result: err = Option<1>
Result: map = Result<$,1> <- 0
Result: and_then = $ <- 0
Result: map_err = Result<0,$> <- 1
Result: or_else = Self <- 1
Result: map_or map_or_else = $ <- 0
Result: iter into_iter = Iter<0>
Result: transpose = Option<Result<0^,1>>
Vec: iter iter_mut into_iter drain difference intersection union symmetric_difference range = Iter<0>
Vec: first last get get_mut pop pop_front pop_back front back first_mut last_mut front_mut back_mut = Option<0>
Vec: peek peek_mut take = Option<0>
Vec: split_first split_last split_first_mut split_last_mut = Option<(0,Vec<0>)>
Vec: to_vec as_slice as_mut_slice clone to_owned as_ref as_mut split_off = Self
Vec: into_boxed_slice into_vec into_sorted_vec = Self
Vec: chunks chunks_mut windows chunks_exact split splitn rchunks = Iter<Vec<0>>
Vec: split_at split_at_mut = (Self,Self)
Vec: remove swap_remove get_unchecked get_unchecked_mut = 0
Vec: recv try_recv recv_timeout = Result<0>
Vec: retain retain_mut sort_by_key sort_unstable_by_key sort_by_cached_key = . <- 0
Vec: binary_search_by binary_search_by_key partition_point dedup_by_key = . <- 0
Vec: sort_by sort_unstable_by dedup_by = . <- 0,0
Iter: next next_back last nth nth_back peek peek_mut min max = Option<0>
Iter: find min_by_key max_by_key rfind next_if = Option<0> <- 0
Iter: min_by max_by reduce = Option<0> <- 0,0
Iter: rev skip take chain peekable cloned copied by_ref step_by fuse cycle iter into_iter clone = Self
Iter: sorted unique dedup into_par_iter par_iter sorted_unstable as_ref = Self
Iter: filter inspect skip_while take_while sorted_by_key unique_by = Self <- 0
Iter: sorted_by = Self <- 0,0
Iter: map = Iter<$> <- 0
Iter: map_while filter_map flat_map = Iter<$^> <- 0
Iter: find_map = $ <- 0
Iter: flatten = Iter<0^>
Iter: enumerate = Iter<(.,0)>
Iter: zip = Iter<(0,@^)>
Iter: any all position for_each rposition try_for_each count_by partition = . <- 0
Iter: fold try_fold = @ <- @,0
Iter: scan = Iter<$^> <- @,0
Iter: collect collect_vec = Vec<0>
HashMap: get get_mut remove insert = Option<1>
HashMap: get_key_value remove_entry first_key_value last_key_value pop_first pop_last = Option<(0,1)>
HashMap: iter iter_mut into_iter drain range range_mut = Iter<(0,1)>
HashMap: keys into_keys = Iter<0>
HashMap: values values_mut into_values = Iter<1>
HashMap: entry = Entry<1>
HashMap: retain = . <- 0,1
HashMap: clone as_ref as_mut to_owned = Self
Entry: or_insert or_default or_insert_entry get get_mut into_mut insert = 0
Entry: or_insert_with = 0 <- .
Entry: and_modify = Self <- 0
Mutex: lock read write into_inner get_mut try_lock try_read try_write = Result<0>
Cell: borrow borrow_mut get_or_init get into_inner take replace get_mut = 0
Cell: try_borrow try_borrow_mut = Result<0>
Cell: set = Result<0>
Into: as_ref as_mut into borrow borrow_mut deref to_owned = 0
Into: try_into = Result<0>
Any: clone to_owned as_ref as_mut borrow borrow_mut by_ref deref deref_mut = Self
Any: cloned copied to_mut into_owned downgrade = Self
Any: to_string len is_empty eq ne cmp partial_cmp hash fmt to_ascii_lowercase to_lowercase to_uppercase into_string = .
Any: project project_ref get_mut get_ref get_unchecked_mut as_pin_mut get_pin_mut get_pin_ref = Self
Any: with with_borrow with_borrow_mut = $ <- Self
Any: upgrade = Option<Self>
Any: then = Option<$> <- .
Any: then_some = Option<@>
"""

WRAP_ARGUMENT = _words("new from default with_capacity new_in pin clone borrow to_owned into_inner from_iter")
"""Functions of standard types that wrap their argument: `Some(x)`, `Mutex::new(x)`, `Rc::clone(&x)`."""

CONSTRUCTORS = {"Some": ("Option", 0), "Ready": ("Option", 0), "Ok": ("Result", 0), "Err": ("Result", 1)}
"""Variants of the standard library that contain a value, by family and index of the type argument."""

MACRO_RESULTS = {
    **dict.fromkeys(_words("dbg pin"), "@"),
    **dict.fromkeys(_words("ready try"), "@^"),
    **dict.fromkeys(_words("vec smallvec array"), "@"),
    **dict.fromkeys(_words("format concat stringify env include_str line file matches cfg"), "."),
    **dict.fromkeys(_words("write writeln"), "Result<.>"),
}
"""Results of standard macros, as templates like those of methods; a list counts as one argument."""
CHANNELS = _words("channel sync_channel unbounded bounded unbounded_channel")
"""Functions that return both ends of a channel."""

PRELUDE_FUNCTIONS = frozenset({"drop"})

RETURN_ARGUMENT = _words("replace take swap from identity black_box ready spawn block_on spawn_blocking min max")
"""Free functions of the standard library and of runtimes that return their argument."""

_TOKEN = re.compile(r"[A-Za-z]+|\d|[$@.^<>(),]")


class MethodRule(NamedTuple):
    """The result of a method, and the arguments it passes to a closure."""

    result: RustNode
    given: tuple[RustNode, ...]


def _parsed(text: str) -> tuple[RustNode, ...]:
    """Parse templates: `0` and `1` type arguments of the receiver, `$` the closure's result, `@` the first argument,
    `^` an element of the preceding type, `.` a type outside the project.
    """
    tokens = _TOKEN.findall(text)
    place = 0

    def several(end: str) -> tuple[RustNode, ...]:
        nonlocal place
        found: list[RustNode] = []
        while place < len(tokens) and tokens[place] != end:
            if tokens[place] == ",":
                place += 1
                continue
            found.append(one())
        place += 1
        return tuple(found)

    def one() -> RustNode:
        nonlocal place
        token = tokens[place]
        place += 1
        inside: tuple[RustNode, ...] = ()
        if token == "(":
            token, inside = "()", several(")")
        elif tokens[place : place + 1] == ["<"]:
            place += 1
            inside = several(">")
        node = RustNode("rule", token, inside)
        while tokens[place : place + 1] == ["^"]:
            place += 1
            node = RustNode("rule", "^", (node,))
        return node

    return several("")


def _table() -> dict[tuple[str, str], MethodRule]:
    table: dict[tuple[str, str], MethodRule] = {}
    for line in _RULES.strip().splitlines():
        family, _, rest = line.partition(": ")
        methods, _, rule = rest.partition(" = ")
        result, _, given = rule.partition(" <- ")
        for method in methods.split():
            table[family, method] = MethodRule(_parsed(result)[0], _parsed(given))
    return table


_TABLE = _table()


def rule_of(ty: ResolvedType, method: str) -> MethodRule | None:
    """Return the rule of a method for the type's family, else the rule for any type."""
    return (_TABLE.get((ty.name, method)) if ty.kind == "std" else None) or _TABLE.get(("Any", method))


def macro_result(name: str, first: ResolvedType | None) -> ResolvedType | None:
    """Return the result of a standard macro for its first argument."""
    template = MACRO_RESULTS.get(name)
    return instantiate(_parsed(template)[0], EXT, None, first) if template is not None else None


def has_rule(ty: ResolvedType, method: str) -> bool:
    return ty.kind == "std" and (ty.name, method) in _TABLE


def element(ty: ResolvedType | None) -> ResolvedType | None:
    """Return the element type of a loop over a standard type."""
    if ty is None or ty.kind != "std":
        return EXT if ty is not None and ty.kind == "ext" else None
    if ty.name == "HashMap":
        return ResolvedType("tuple", "", ty.args[:2])
    return ty.args[0] if ty.args else None


def instantiate(
    rule: RustNode, receiver: ResolvedType, closure: ResolvedType | None, argument: ResolvedType | None
) -> ResolvedType | None:
    """Instantiate a rule's template."""
    name = rule.name
    if name.isdigit():
        place = int(name)
        return receiver.args[place] if place < len(receiver.args) else None
    at_hand = {"Self": receiver, "$": closure, "@": argument, ".": EXT}
    if name in at_hand:
        return at_hand[name]
    parts = tuple(instantiate(part, receiver, closure, argument) for part in rule.parts)
    if name == "^":
        return element(parts[0])
    return ResolvedType("tuple", "", parts) if name == "()" else ResolvedType("std", name, parts)
