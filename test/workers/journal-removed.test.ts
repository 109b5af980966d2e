import {mkdirSync, readdirSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {verifyLedger} from '../../src/store/ledger/index.ts'
import {startGateway} from '../support/gateway.ts'
import {asking, ids, outcomes, setUp} from './support.ts'

type Folder = string

/** What somebody does to the journal of a gateway that runs. */
const REMOVALS: Record<string, (journal: Folder) => void> = {
  'all its files are deleted': journal => {
    for (const name of readdirSync(journal)) rmSync(join(journal, name))
  },
  'the segment being written is deleted': journal => rmSync(join(journal, last(journal))),
  'the segment being written is moved away': journal =>
    renameSync(join(journal, last(journal)), join(journal, '../moved')),
  'the segment being written is replaced by another file': journal => {
    rmSync(join(journal, last(journal)))
    writeFileSync(join(journal, last(journal, '0000000000000001.seg')), 'not a segment')
  },
  'the folder is deleted': journal => rmSync(journal, {recursive: true}),
  'the folder is moved away': journal => renameSync(journal, `${journal}.moved`),
  'the spares are deleted': journal => {
    for (const name of readdirSync(journal)) if (name.endsWith('.spare')) rmSync(join(journal, name))
  },
}

function last(journal: Folder, otherwise = '') {
  return (
    readdirSync(journal)
      .filter(name => name.endsWith('.seg'))
      .sort()
      .at(-1) ?? otherwise
  )
}

describe('the journal of a gateway that runs loses nothing when', () => {
  test.each(Object.entries(REMOVALS))('%s', async (name, remove) => {
    const gateway = await setUp('sqlite')
    const records = await gateway.start()
    const ask = asking(records)
    for (const call of ['before', 'under-way']) await ask.begin(call)
    await ask.settle('before')
    remove(gateway.directory.journal)
    const all = ['before', 'under-way']
    for (let n = 0; n < 10; n++) {
      await ask.begin(`after-${n}`)
      await ask.settle(`after-${n}`)
      all.push(`after-${n}`)
    }
    await ask.settle('under-way')
    await records.flushed()
    expect((await outcomes(gateway)).sort()).toEqual(all.map(call => `${call} ok`).sort())
    expect(await ids(gateway, 'logs')).toEqual(all.sort())
    const is_noticed = name !== 'the spares are deleted'
    if (is_noticed) await expect.poll(() => records.status().files_removed).toBe(1)
    expect(records.status().accepting).toBe(true)
    expect(gateway.lines.filter(({msg}) => msg.includes('written anew'))).toHaveLength(is_noticed ? 1 : 0)
    await records.close()
    expect((await gateway.start()).report).toMatchObject({recovered: 0})
    expect((await verifyLedger(gateway.store)).breaks).toEqual([])
  })
})

test('a gateway whose journal can be written nowhere says so on /readyz and in a metric, refuses calls, and goes on once it can', async () => {
  const gateway = await startGateway()
  const call = async () =>
    (await gateway.chat({model: 'echo', messages: [{role: 'user', content: 'x'}]}, {'x-gateway-provider': '@demo'}))
      .status
  const ready = async () => (await fetch(`${gateway.url}/readyz`)).status
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1])
  try {
    expect([await call(), await ready(), await metric('gateway_journal_accepting')]).toEqual([200, 200, 1])
    const journal = join(gateway.folder, 'journal')
    rmSync(journal, {recursive: true})
    writeFileSync(journal, 'in the way')
    await expect.poll(ready).toBe(503)
    expect([
      await call(),
      await metric('gateway_journal_accepting'),
      await metric('gateway_journal_files_removed_total'),
    ]).toEqual([503, 0, 1])
    rmSync(journal)
    mkdirSync(journal)
    await expect.poll(ready).toBe(200)
    expect(await call()).toBe(200)
    await gateway.app.flushed()
    expect(await metric('gateway_journal_accepting')).toBe(1)
    const answered = (await gateway.logs()).filter(
      ({response_status_code, status}) => (response_status_code ?? status) === 200,
    )
    expect(answered).toHaveLength(2)
  } finally {
    await gateway.close()
  }
})
