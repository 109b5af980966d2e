import {createHash} from 'node:crypto'
import {cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {everyCommand} from '../cli/examples/program.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {RING} from '../support/ring.ts'
import {FIRST_TASKS} from './first-tasks.ts'
import {FURTHER_TASKS} from './further-tasks.ts'
import type {Typed} from './task.ts'
import {openTerminal, standIn, type Terminal} from './terminal.ts'

/**
 * Tasks of a new user, typed at a terminal of 80 columns as the README and the pages have them. Each command shows what
 * it did, and a later command takes what an earlier one shows: a value that is cut or not shown ends a task.
 */
const ROOT = resolve(import.meta.dirname, '../..')
const TASKS = [...FIRST_TASKS, ...FURTHER_TASKS]

let terminal: Terminal
let provider: FakeProvider
let flaky: FakeProvider
/** A change is known to the process that serves within a tenth of a second, and a call is in the log within that. */
const AGAIN_MS = 200
const MAX_AGAIN_MS = 10_000
/** What screens showed. */
const known: Record<string, string> = {}

beforeAll(async () => {
  terminal = openTerminal()
  provider = await fakeProvider()
  flaky = await fakeProvider((_, response) => json(response, {error: {message: 'down'}}, 503))
  known.HOME = terminal.home
  release(join(terminal.home, 'work/release'))
})
afterAll(async () => {
  await terminal.close()
  await provider.close()
  await flaky.close()
})

describe.each(TASKS.filter(({is_slow}) => !is_slow || RING !== 'own'))('$title', ({steps}) => {
  test('is done as the pages say', async () => {
    for (const step of steps) {
      if ('file' in step) terminal.writeFile(step.file, step.text)
      else await typed(step)
    }
  })
})

test('every command and flag of a task is in the pages that it names', () => {
  const commands = everyCommand().map(({words}) => words)
  const missing = TASKS.flatMap(({title, pages, steps}) => {
    const text = pages.map(page => readFileSync(join(ROOT, page), 'utf8')).join('\n')
    return steps.flatMap(step => {
      if ('file' in step) return []
      const [, argv] = /(?:^|\s)gateway (.*)$/s.exec(step.type) ?? []
      const command = argv && commands.filter(words => words !== '' && `${argv} `.startsWith(`${words} `)).at(-1)
      const flags = step.type.startsWith('curl ') ? [] : (step.type.match(/(?<=\s)--[a-z-]+/g) ?? [])
      return [...(command ? [`gateway ${command}`] : []), ...flags]
        .filter(name => !text.includes(name))
        .map(name => `${title}: ${name}`)
    })
  })
  expect(missing).toEqual([])
})

async function typed(step: Typed) {
  const line = filled(step.type)
  const patterns = step.shows.map(each => (typeof each === 'string' ? filled(each) : each))
  const isShown = (text: string) =>
    patterns.every(each => (typeof each === 'string' ? unwrapped(text).includes(each) : each.test(text)))
  const isSent = () => step.sends?.test(String(provider.received.at(-1)?.body)) !== false
  let screen = await terminal.type(line, isShown)
  const deadline = performance.now() + MAX_AGAIN_MS
  while (step.again && !(isShown(screen.text) && isSent()) && performance.now() < deadline) {
    await new Promise(done => setTimeout(done, AGAIN_MS))
    screen = await terminal.type(line, isShown)
  }
  const shown = `$ ${line}\n${screen.text}`
  expect([screen.code, shown]).toEqual([step.code ?? 0, shown])
  for (const each of patterns) {
    if (typeof each === 'string') expect(unwrapped(shown)).toContain(each)
    else expect(screen.text, shown).toMatch(each)
  }
  for (const [name, pattern] of Object.entries(step.takes ?? {})) {
    const [, value] = pattern.exec(screen.text) ?? []
    expect(value, `${name} is not on the screen:\n${shown}`).toBeDefined()
    known[name] = value!
  }
  if (step.sends) expect(String(provider.received.at(-1)?.body)).toMatch(step.sends)
}

/** Lines that a terminal's width broke are one again. */
function unwrapped(text: string): string {
  return text.replaceAll(/\n {2,}/g, ' ')
}

/** `$NAME` as a screen showed it, and the addresses of this machine in place of those of the pages. */
function filled(text: string): string {
  return text
    .replaceAll(/\$([A-Z]+)/g, (name, word: string) => known[word] ?? name)
    .replaceAll('http://127.0.0.1:8787', known.URL ?? 'http://127.0.0.1:8787')
    .replaceAll('http://10.0.0.5:11434', `http://127.0.0.1:${provider.port}`)
    .replaceAll('http://10.0.0.6:8000', `http://127.0.0.1:${flaky.port}`)
}

/** The files that are copied to a machine: the script, the executable and its checksum. */
function release(folder: string) {
  mkdirSync(folder)
  cpSync(join(ROOT, 'install.sh'), join(folder, 'install.sh'))
  writeFileSync(join(folder, 'gateway'), standIn(), {mode: 0o755})
  const sum = createHash('sha256').update(standIn()).digest('hex')
  writeFileSync(join(folder, 'SHA256SUMS'), `${sum}  gateway\n`)
  expect(readdirSync(folder)).toHaveLength(3)
}
