import {expect, test} from 'vitest'
import type {RawClient} from '../../support/raw.ts'
import {governed, settled} from './governed-server.ts'

const SILENT = ''
const HALF = 'GET /'
const FAIR_MS = 1000
const LOOKS_MS = 500

/** What each of those who come says, in the order in which they come: all of them before the governor looks again. */
const CROWDS: readonly (readonly string[])[] = [
  [SILENT, HALF, HALF],
  [HALF, SILENT, HALF],
  [HALF, HALF, SILENT],
  [SILENT, SILENT, HALF],
  [HALF, SILENT, SILENT],
]

/** They are full as they stand: each that comes now takes the place of one. */
async function crowd(texts: readonly string[]) {
  const on = await governed({connections: texts.length})
  const standing: RawClient[] = []
  for (const text of texts) {
    const client = await on.dial()
    client.write(text)
    await settled()
    standing.push(client)
  }
  return {on, standing}
}

test.each([0, FAIR_MS + LOOKS_MS])(
  'who came first gives way first, whoever came within one look (%i ms later)',
  async later_ms => {
    for (const texts of CROWDS) {
      const {on, standing} = await crowd(texts)
      await on.pass(later_ms)
      for (let gone = 1; gone <= standing.length; gone++) {
        await on.dial()
        await expect
          .poll(() => standing.map(client => client.isOver()), {message: texts.join(', ')})
          .toEqual(texts.map((_, place) => place < gone))
      }
    }
  },
)

test('a connection that has just come is not what gives way, though it has said nothing yet', async () => {
  const {on, standing} = await crowd([HALF, HALF, HALF])
  const fresh = await on.dial()
  const next = await on.dial()
  await settled()
  expect(standing.map(client => client.isOver())).toEqual([true, true, false])
  for (const client of [fresh, next]) client.write('GET /node HTTP/1.1\r\nHost: here\r\n\r\n')
  for (const client of [fresh, next]) await expect.poll(client.received).toMatch(/read 0$/)
})

test('a first byte begins the time of a request anew', async () => {
  const {on, standing} = await crowd([SILENT, SILENT])
  standing[0]!.write(HALF)
  await settled()
  await on.dial()
  await settled()
  expect(standing.map(client => client.isOver())).toEqual([false, true])
})
