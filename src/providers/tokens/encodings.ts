import type {Encoding} from './vocabulary.ts'

/**
 * Models by the vocabulary that they read with (tiktoken 0.14, tiktoken/model.py); its harmony form has the same tokens
 * of text.
 */
const READ_BY: readonly (readonly [models: RegExp, encoding: Encoding])[] = [
  [/^(?:gpt-5|(?:(?:chat)?gpt-4o|gpt-4\.[15]|gpt-oss|o1|o3|o4-mini)(?:[-:]|$))/, 'o200k_base'],
  [
    /^(?:gpt-4|gpt-3\.5|gpt-35-turbo|text-embedding-(?:ada-002|3-small|3-large)|davinci-002|babbage-002)(?:[-:]|$)/,
    'cl100k_base',
  ],
]

/**
 * The vocabulary of a model, from any provider that serves it under its name; null where it is not public, or not
 * known.
 */
export function encodingOf(model: string): Encoding | null {
  const named = model.toLowerCase().replace(/^.*\//, '').replace(/^ft:/, '')
  return READ_BY.find(([models]) => models.test(named))?.[1] ?? null
}
