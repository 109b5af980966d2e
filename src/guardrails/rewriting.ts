import type {Transform} from './check.ts'
import {gently, type Work} from './gently.ts'
import type {View} from './view.ts'

/** A redaction of every text of a view. */
export interface Rewriting {
  /** What it changes of `view`, or undefined where it changes none. */
  of(view: View): Work<Transform | undefined>
}

/** Between two pauses. */
const TEXTS_AT_ONCE = 128

/** What `by` makes of a text is remembered, so that carrying it out costs nothing more unless another redaction came before. */
export function rewriting(by: (text: string) => Work<string>): Rewriting {
  const known = new Map<string, string>()
  const made = new WeakMap<View, View>()
  function* rewritten(view: View): Work<View> {
    const before = made.get(view)
    if (before) return before
    const fresh = new Set(textsOf(view).filter(text => !known.has(text)))
    yield
    for (const text of fresh) {
      if (known.size % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) yield
      known.set(text, yield* by(text))
    }
    yield
    const after = view.rewrite(text => known.get(text)!)
    made.set(view, after)
    return after
  }
  return {
    *of(view) {
      return (yield* rewritten(view)) === view ? undefined : {apply: now => gently(rewritten(now))}
    },
  }
}

/** Every text, judged or not. */
export function textsOf(view: View): readonly string[] {
  const texts: string[] = []
  view.rewrite(text => {
    texts.push(text)
    return text
  })
  return texts
}
