import {headOf} from './base-form.ts'
import {lexicon} from './lexicon.ts'
import {phraseAt, phraseTables} from './phrases.ts'
import type {GateToken} from './token.ts'

/** A word of a sentence in its base form, or a value or literal in its one way of writing. */
export interface GateItem {
  readonly text: string
  readonly of: GateToken['kind']
}

/** A text may have so many unknown words put right. More are no slips but words of a trade. */
const MAX_SLIPS = 24

/** The items of each sentence. */
export function sentencesOf(tokens: readonly GateToken[]): GateItem[][] {
  const sentences: GateItem[][] = []
  let sentence: GateItem[] = []
  let slips = 0
  const {vocabulary} = lexicon()
  for (const token of tokens) {
    if (token.kind === 'break' && token.text === '.') {
      if (sentence.length > 0) sentences.push(joined(sentence))
      sentence = []
    } else if (token.kind !== 'word') sentence.push({text: markOf(token) + token.text, of: token.kind})
    else {
      const unknown = !vocabulary.has(token.text)
      const text = headOf(token.text, unknown && token.capital !== true && slips < MAX_SLIPS)
      if (unknown) slips++
      sentence.push({text, of: 'word'})
    }
  }
  if (sentence.length > 0) sentences.push(joined(sentence))
  return sentences
}

/** A quotation is no word, and a name in code is none either. */
function markOf({kind}: GateToken): string {
  return kind === 'quote' ? 'q:' : kind === 'code' ? 'c:' : kind === 'date' ? 'd:' : kind === 'name' ? 'n:' : ''
}

/** The sentence with each phrase as the word that it means. */
function joined(sentence: readonly GateItem[]): GateItem[] {
  const words = sentence.map(item => item.text)
  const {phrases} = phraseTables()
  const items: GateItem[] = []
  let at = 0
  while (at < sentence.length) {
    const phrase = phraseAt(phrases, words, at)
    if (phrase === null) items.push(sentence[at++]!)
    else {
      items.push(...phrase.to.map(text => ({text, of: 'word' as const})))
      at += phrase.words.length
    }
  }
  return items
}
