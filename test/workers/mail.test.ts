import {expect, onTestFinished, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import {smtpMailer} from '../../src/ports/mail/smtp.ts'
import {postMails} from '../../src/store/mails.ts'
import {mailJob} from '../../src/workers/mail.ts'
import {mailServer, silentServer} from '../support/mail-server.ts'
import {testStore} from '../support/stores.ts'

const NOON_MS = Date.parse('2026-03-04T12:00:00.000Z')
const lost = new AbortController().signal

async function setUp() {
  const {store, close} = await testStore('sqlite')
  onTestFinished(close)
  const lines: string[] = []
  const log = createLog('info', 'gateway', line => void lines.push(line))
  let now_ms = NOON_MS
  const post = (...recipients: string[]) =>
    postMails(
      store.db,
      recipients.map((recipient, at) => ({id: `mail-${at}`, recipient, subject: 'x', plain: 'x', html: 'x'})),
      now_ms,
    )
  const turn = async (settings: Parameters<typeof smtpMailer>[0], after_ms = 0) => {
    now_ms += after_ms
    await mailJob({store, mailer: smtpMailer(settings), log, now: () => now_ms})
      .run({now_ms, lost})
      .catch((fault: Error) => fault)
  }
  const rows = async () => {
    const found = await store.db
      .selectFrom('mails')
      .select(['recipient', 'status', 'tries', 'next_try_at_ms'])
      .orderBy('id')
      .execute()
    return found.map(({recipient, status, tries, next_try_at_ms}) => [
      recipient,
      status,
      tries,
      (next_try_at_ms - NOON_MS) / 1000,
    ])
  }
  return {store, post, turn, rows, lines}
}

test('letters that wait are sent, each once', async () => {
  const {received, settings} = await mailServer()
  const {post, turn, rows} = await setUp()
  await post('a@example.com', 'b@example.com')
  await turn(settings)
  await turn(settings, 60_000)
  expect(received.map(({to}) => to)).toEqual([['a@example.com'], ['b@example.com']])
  expect(await rows()).toEqual([
    ['a@example.com', 'sent', 1, 0],
    ['b@example.com', 'sent', 1, 0],
  ])
})

test('one that is refused for good is given up, one that is refused for now is tried later and later; the others go out', async () => {
  const {received, settings} = await mailServer()
  const {post, turn, rows, lines} = await setUp()
  await post('x@refused.example', 'y@busy.example', 'a@example.com')
  await turn(settings)
  expect(await rows()).toEqual([
    ['x@refused.example', 'failed', 1, 0],
    ['y@busy.example', 'waiting', 1, 30],
    ['a@example.com', 'sent', 1, 0],
  ])
  await turn(settings, 29_000)
  expect((await rows())[1]).toEqual(['y@busy.example', 'waiting', 1, 30])
  await turn(settings, 1_000)
  expect((await rows())[1]).toEqual(['y@busy.example', 'waiting', 2, 90])
  for (let tries = 0; tries < 10; tries++) await turn(settings, 3_600_000)
  expect((await rows())[1]).toEqual(['y@busy.example', 'waiting', 12, 39_630])
  await turn(settings, 3 * 86_400_000)
  expect((await rows())[1]!.slice(0, 2)).toEqual(['y@busy.example', 'failed'])
  expect(received).toHaveLength(1)
  expect(lines.filter(line => line.includes('a letter was given up'))).toHaveLength(2)
})

test('a server that hangs costs three letters of a turn, and nothing is lost', async () => {
  const silent = await silentServer()
  const {received, settings} = await mailServer()
  const {post, turn, rows} = await setUp()
  await post(...Array.from({length: 5}, (_, at) => `${at}@example.com`))
  await turn({...silent, answer_ms: 30})
  expect((await rows()).map(([, status, tries]) => [status, tries])).toEqual(
    [1, 1, 1, 0, 0].map(tries => ['waiting', tries]),
  )
  await turn(settings, 30_000)
  expect((await rows()).every(([, status]) => status === 'sent')).toBe(true)
  expect(received).toHaveLength(5)
})

test('what was sent is forgotten after a month', async () => {
  const {settings} = await mailServer()
  const {post, turn, rows, store} = await setUp()
  await post('old@example.com')
  await turn(settings)
  await postMails(
    store.db,
    [{id: 'new', recipient: 'new@example.com', subject: 'x', plain: 'x', html: 'x'}],
    NOON_MS + 30 * 86_400_000,
  )
  await turn(settings, 31 * 86_400_000)
  expect((await rows()).map(([recipient]) => recipient)).toEqual(['new@example.com'])
})
