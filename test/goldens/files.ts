import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {Recorded, Row, Scene} from './scene.ts'
import {textOf} from './text.ts'

const FOLDER = join(import.meta.dirname, 'recorded')
/** `GOLDENS=write npm test -- test/goldens` writes what is so as what must be so. */
const WRITES = process.env.GOLDENS === 'write'
const LOG = /^--- log$/gm
const HEAD = /^=== (.*)\n/gm

/** Every row of every group against its golden, and no golden without its row. `folder`: one for each test file. */
export function testGoldens(folder: string, groups: Readonly<Record<string, readonly Row[]>>, scene: () => Scene) {
  const path = (group: string) => join(FOLDER, folder, `${group}.txt`)
  for (const [group, rows] of Object.entries(groups)) {
    describe(group, () => {
      const golden = read(path(group))
      let recorded: ReadonlyMap<string, Recorded>
      const text = (name: string) => textOf(name, recorded.get(name)!, scene().names)
      beforeAll(async () => {
        recorded = await scene().record(rows, name => (WRITES ? null : (golden.get(name)?.match(LOG)?.length ?? null)))
      }, 120_000)
      test.each(rows.map(({name}) => name))('%s', name => {
        if (!WRITES)
          expect(text(name), `${group}: ${name}`).toBe(golden.get(name) ?? '(no golden: GOLDENS=write makes it)')
      })
      test('every golden has its row, and no two rows have one name', () => {
        const names = rows.map(({name}) => name)
        expect(new Set(names).size).toBe(names.length)
        if (!WRITES) expect([...golden.keys()]).toEqual(names)
      })
      afterAll(() => {
        if (!WRITES || !recorded) return
        mkdirSync(join(FOLDER, folder), {recursive: true})
        writeFileSync(path(group), rows.map(({name}) => `=== ${name}\n${text(name)}`).join(''))
      })
    })
  }
  test('every file of goldens has its group', () => {
    const there = existsSync(join(FOLDER, folder)) ? readdirSync(join(FOLDER, folder)) : []
    const left = there.filter(file => !Object.hasOwn(groups, file.replace('.txt', '')))
    if (WRITES) for (const file of left) rmSync(join(FOLDER, folder, file))
    else expect(left).toEqual([])
  })
}

function read(path: string): ReadonlyMap<string, string> {
  if (!existsSync(path)) return new Map()
  const [, ...parts] = readFileSync(path, 'utf8').split(HEAD)
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1]!] as const] : [])))
}
