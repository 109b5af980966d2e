import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {expect, test} from 'vitest'

/** A line ends at 120 columns. The formatter breaks code there (biome.json); it does not break comments and texts. */
const MOST_COLUMNS = 120
/**
 * Lines that are longer because of a text, a pattern, or a table that is laid out by hand. The number may only fall.
 */
const MOST_LONG_LINES = 1368

const root = resolve(import.meta.dirname, '..')

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => /\.(?:ts|mjs)$/.test(name) && !/(?:^|\/)(?:data|fixtures)\//.test(name))
    .map(name => relative(root, join(root, folder, name)))
}

const long = ['src', 'cli', 'bin', 'migrations', 'test'].flatMap(filesBelow).flatMap(file =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .map((text, index) => ({at: `${file}:${index + 1}`, text}))
    .filter(({text}) => text.length > MOST_COLUMNS),
)

test('a comment ends at 120 columns', () => {
  const comments = long.filter(({text}) => /^\s*(?:\/\/|\/?\*)|[^:'"`] \/\/ [^'"`]*$/.test(text))
  expect(comments.filter(({text}) => !/https?:\/\/\S{60,}/.test(text)).map(({at}) => at)).toEqual([])
})

test('longer lines become fewer', () => {
  expect(long.length).toBeLessThanOrEqual(MOST_LONG_LINES)
})
