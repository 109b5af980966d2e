import type {Transform} from './check.ts'
import type {View} from './view.ts'

/**
 * A redaction of every text of a view, or undefined where it changes none. What it makes of a text is remembered, so that carrying it out
 * costs nothing more unless another redaction came before.
 */
export function rewriting(by: (text: string) => string): (view: View) => Transform | undefined {
  const known = new Map<string, string>()
  const remembered = (text: string) => {
    const made = known.get(text) ?? by(text)
    known.set(text, made)
    return made
  }
  return view => (view.rewrite(remembered) === view ? undefined : {apply: now => now.rewrite(remembered)})
}
