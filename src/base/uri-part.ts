import {Refusal} from './errors.ts'

/**
 * `encodeURIComponent` for text that others chose: half of a pair of surrogates has no place in a URL, and its sender
 * gets a 400. `what` begins the sentence.
 */
export function uriPart(text: string, what = 'A name in this request'): string {
  if (!text.isWellFormed()) throw new Refusal('text.half_character', {what})
  return encodeURIComponent(text)
}
