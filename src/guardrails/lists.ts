import {z} from 'zod'

export const OPERATORS = ['any', 'all', 'none'] as const
export type Operator = (typeof OPERATORS)[number]

export function operatorParameter(fallback: Operator) {
  return z.enum(OPERATORS).default(fallback).describe('How many of them must be there.')
}

/** The members of `wanted` that are present, and the verdict of `operator` on them. */
export function compare<T extends string>(wanted: readonly T[], isThere: (each: T) => boolean, operator: Operator) {
  const found = wanted.filter(isThere)
  const missing = wanted.filter(each => !found.includes(each))
  const holds = operator === 'any' ? found.length > 0 : operator === 'all' ? missing.length === 0 : found.length === 0
  return {holds, found, missing}
}

/** A list of texts, also written as one text with commas between. */
export function texts() {
  return z
    .union([z.array(z.string()), z.string().transform(text => split(text))])
    .transform(items => items.map(each => each.trim()).filter(Boolean))
}

export function split(text: string): string[] {
  return text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)
}

/** The entries that are in both lists. */
export function shared<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  const among = new Set(other)
  return [...new Set(one)].filter(each => among.has(each))
}

/** `"a", "b"`, at most five of them. */
export function quoted(words: readonly unknown[]): string {
  const quoted = words.slice(0, 5).map(word => JSON.stringify(word)?.slice(0, 100))
  return quoted.join(', ') + (words.length > 5 ? ` and ${words.length - 5} more` : '')
}
