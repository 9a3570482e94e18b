"""Other methods for the same queues, to compare those of `cuesta.analysis.models` with. Cuesta itself uses none.

Why they are not in the product:

- `schweitzer`: approximate mean value analysis, for networks that take too long to be solved exactly. Ours have one
  class of users, and exact methods are fast.
- `multi_class`: several classes of users. Meters give the demand of a mean transaction, not of those of each class, so
  no run or table has the input. Classes of equal users must give what one class does.
- `balanced_job_bounds`, `geometric_bounds`: bounds for single servers (`bounds`: what both share). Where they hold, the
  exact solution is known too, and must lie within; the product's `asymptotic_bounds` hold of any network.
- `repairman`: the closed form of one server and a think time, an independent solution of the simplest network.

`test_published` checks all but the balanced-job bounds by published numbers, since an oracle may be wrong too.
"""
