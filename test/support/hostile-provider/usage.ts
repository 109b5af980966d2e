import {type Asked, type CaseTable, whole} from './reply.ts'
import {changed, usualBody} from './usual.ts'

/** Counts of tokens that nobody could be charged for. */
const COUNT = /("(?:\w*_tokens|\w+TokenCount|search_units)":)\d+/g

/** Every count of the answer is `value`. */
const counting = (value: string) => {
  return (asked: Asked) => changed(asked, json => json.replaceAll(COUNT, `$1${value}`))
}

/** What tells of use is `value`, whatever the dialect calls it. */
const using = (value: unknown) => {
  return (asked: Asked) => whole(JSON.stringify({...usualBody(asked), usage: value, usageMetadata: value, meta: value}))
}

export const USAGE: CaseTable = {
  'usage-negative': counting('-5'),
  'usage-negative-zero': counting('-0'),
  'usage-fraction': counting('1.5'),
  'usage-2-to-53': counting('9007199254740993'),
  'usage-2-to-63': counting('9223372036854775808'),
  'usage-of-30-digits': counting('123456789012345678901234567890'),
  'usage-beyond-all': counting('1e999'),
  'usage-of-texts': counting('"12"'),
  'usage-nan': counting('NaN'),
  'usage-nan-text': counting('"NaN"'),
  'usage-true': counting('true'),
  'usage-null-counts': counting('null'),
  'usage-list-counts': counting('[7]'),
  'usage-nested': counting('{"prompt_tokens":{"prompt_tokens":7}}'),
  'usage-deep': counting(`${'{"total":'.repeat(5000)}1${'}'.repeat(5000)}`),
  'usage-null': using(null),
  'usage-list': using([1, 2]),
  'usage-text': using('ten'),
  'usage-number': using(7),
  'usage-more-cached-than-read': using({
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: -1,
    prompt_tokens_details: {cached_tokens: 1e15},
    completion_tokens_details: {reasoning_tokens: -1e15},
  }),
}
