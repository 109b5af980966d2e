import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {brotliCompressSync, brotliDecompressSync, constants} from 'node:zlib'
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base'
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base'

const FOLDER = join(import.meta.dirname, '..', 'src/providers/tokens')
/** So many of the most frequent words: more make the bound of prose hardly lower. */
const WORDS = 6000
const LONGEST_WORD = 14
const ASCII = 128

/**
 * Builds src/providers/tokens/vocabulary.json and the whole tables beside it from the public vocabularies; with
 * --check, fails when one is stale.
 */
const files: readonly (readonly [
  name: string,
  bytes: Buffer,
  pack: (bytes: Buffer) => Buffer,
  unpack: (bytes: Buffer) => Buffer,
])[] = [
  ['vocabulary.json', Buffer.from(build()), bytes => bytes, bytes => bytes],
  ['o200k_base.br', table(o200k), packed, brotliDecompressSync],
  ['cl100k_base.br', table(cl100k), packed, brotliDecompressSync],
]
for (const [name, bytes, pack, unpack] of files) {
  const file = join(FOLDER, name)
  if (!process.argv.includes('--check')) writeFileSync(file, pack(bytes))
  else if (!existsSync(file) || !unpack(readFileSync(file)).equals(bytes)) {
    console.error(`${file} is not what a rebuild makes; run: node bin/vocabulary.ts`)
    process.exitCode = 1
  }
}

/** Every token by its rank, each behind a byte with its length. */
function table(ranks: readonly (string | readonly number[])[]): Buffer {
  const tokens = ranks.map(token => (typeof token === 'string' ? Buffer.from(token) : Buffer.from(token as number[])))
  return Buffer.concat(tokens.flatMap(token => [Buffer.of(token.length), token]))
}

function packed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {params: {[constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY}})
}

/** Words that are a token with the space before them, and pairs of signs that are one, in both vocabularies. */
function build(): string {
  const narrow = new Set(namesOf(cl100k))
  const both = namesOf(o200k).filter(name => narrow.has(name))
  const known = new Set(both)
  const words = both.filter(
    name => /^ (?:[A-Z]?[a-z]+|[A-Z]+)$/.test(name) && name.length > 3 && name.length <= LONGEST_WORD + 1,
  )
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
