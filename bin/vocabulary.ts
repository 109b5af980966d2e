import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base'
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base'

const FILE = join(import.meta.dirname, '..', 'src/providers/tokens/vocabulary.json')
/** So many of the most frequent words: more make the bound of prose hardly lower. */
const WORDS = 6000
const LONGEST_WORD = 14
const ASCII = 128

/** Builds src/providers/tokens/vocabulary.json from the public vocabularies; with --check, fails when it is stale. */
const text = build()
if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error(`${FILE} is not what a rebuild makes; run: node bin/vocabulary.ts`)
  process.exitCode = 1
}

/** Words that are a token with the space before them, and pairs of signs that are one, in both vocabularies. */
function build(): string {
  const narrow = new Set(namesOf(cl100k))
  const both = namesOf(o200k).filter(name => narrow.has(name))
  const known = new Set(both)
  const words = both.filter(name => /^ (?:[A-Z]?[a-z]+|[A-Z]+)$/.test(name) && name.length > 3 && name.length <= LONGEST_WORD + 1)
  const pairs = Buffer.alloc((ASCII * ASCII) / 8)
  for (let one = 0; one < ASCII; one++) {
    for (let other = 0; other < ASCII; other++) {
      const at = one * ASCII + other
      if (known.has(String.fromCharCode(one, other))) pairs[at >> 3] = pairs[at >> 3]! | (1 << (at & 7))
    }
  }
  return `${JSON.stringify({words: words.slice(0, WORDS).join('').trim(), pairs: pairs.toString('base64')}, null, 2)}\n`
}

/** Tokens of ASCII, the most frequent first. */
function namesOf(ranks: readonly (string | readonly number[])[]): string[] {
  return ranks.filter(token => typeof token === 'string').filter(token => /^[\x00-\x7f]+$/.test(token))
}
