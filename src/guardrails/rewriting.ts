import type {Transform} from './check.ts'
import {inTimeSlices, type SlicedWork} from './time-slices.ts'
import type {View} from './view.ts'

/** A redaction of every string of a view. */
export interface Rewriting {
  /** The change of `view`, or undefined for none. */
  of(view: View): SlicedWork<Transform | undefined>
}

/** Between two pauses. */
const TEXTS_AT_ONCE = 128

/**
 * The result of `by` for a text is remembered, so that carrying it out costs nothing more unless another redaction came
 * before.
 */
export function rewriting(by: (text: string, called: string) => SlicedWork<string>): Rewriting {
  const known = new Map<string, Map<string, string>>()
  const made = new WeakMap<View, View>()
  let count = 0
  function* rewritten(view: View): SlicedWork<View> {
    const before = made.get(view)
    if (before) return before
    yield
    for (const {text, called} of view.strings) {
      const alike = known.get(called)
      if (alike?.has(text)) continue
      if (++count % TEXTS_AT_ONCE === 0) yield
      const put = yield* by(text, called)
      if (alike) alike.set(text, put)
      else known.set(called, new Map([[text, put]]))
    }
    yield
    const put = (text: string, called: string) => known.get(called)?.get(text) ?? text
    const after = view.rewriting ? yield* view.rewriting(put) : view.rewrite(put)
    made.set(view, after)
    return after
  }
  return {
    *of(view) {
      return (yield* rewritten(view)) === view ? undefined : {apply: now => inTimeSlices(rewritten(now))}
    },
  }
}
