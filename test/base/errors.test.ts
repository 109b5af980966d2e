import {readdirSync, readFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {REFUSALS, Refusal, type RefusalCode} from '../../src/base/errors.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CODES = Object.keys(REFUSALS) as RefusalCode[]

/** All code but the table itself. */
function codeOf(folder: string): string {
  return readdirSync(join(ROOT, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.ts') && name !== 'base/errors.ts')
    .map(name => readFileSync(join(ROOT, folder, name), 'utf8'))
    .join('\n')
}

test('every refusal is uttered somewhere', () => {
  const code = codeOf('src') + codeOf('cli')
  const isUttered = (refusal: string) => {
    const [subject, reason] = refusal.split('.')
    return code.includes(`'${refusal}'`) || (code.includes(`\`${subject}.\${`) && code.includes(`'${reason}'`))
  }
  expect(CODES.filter(refusal => !isUttered(refusal))).toEqual([])
})

test.each(CODES)('%s says a whole sentence, with each of its details once it has them', code => {
  const {status, type, say} = REFUSALS[code]
  expect(status).toBeGreaterThanOrEqual(400)
  expect(status).toBeLessThan(600)
  expect(type).toMatch(/^[a-z_]+$/)
  const words = [...say.matchAll(/\{(\w+)\}/g)].map(([, word]) => word!)
  const {message} = new Refusal(code, Object.fromEntries(words.map(word => [word, `<${word}>`])))
  for (const word of words) expect(message).toContain(`<${word}>`)
  expect(message).not.toMatch(/[{}]/)
})
