import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {passwordHash} from '../../src/identity/password.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {setPassword} from '../../src/store/user-passwords.ts'
import {openSignInGateway} from '../support/sign-in.ts'
import {KINDS, type StoreKind} from '../support/stores.ts'

const RIGHT = 'correct horse of the owner'
const MINUTE_MS = 60_000
/** Nothing listens there: letters wait in the database. */
const MAIL = {SMTP_HOST: '127.0.0.1', SMTP_PORT: '1', SMTP_FROM: 'gateway@example.test'}

async function openHouse(kind: StoreKind, env: Record<string, string> = MAIL) {
  const clock = {ms: Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 10_000}
  const gateway = await openSignInGateway(kind, env, {now: () => clock.ms})
  const {DATABASE_URL: connectionString} = gateway.shared
  const store = await openStore(
    connectionString === undefined
      ? {kind: 'sqlite', folder: gateway.folder, role: 'operator'}
      : {kind: 'postgres', connection: {connectionString}, pool_size: 2},
  )
  onTestFinished(async () => {
    await store.close()
    await gateway.close()
  })
  const phc = await passwordHash(RIGHT)
  for (const [name, role] of [
    ['olga', 'owner'],
    ['otto', 'owner'],
    ['adam', 'admin'],
    ['gone', 'owner'],
  ] as const) {
    const id = await gateway.person(name, role)
    await store.write(db => setPassword(db, id, phc, new Date(clock.ms).toISOString()))
    if (name === 'gone')
      await store.write(db =>
        db.updateTable('organisation_users').set({status: 'archived'}).where('user_id', '=', id).execute(),
      )
  }
  return {
    gateway,
    clock,
    store,
    async signIn(name: string, password = RIGHT) {
      const body = {email: `${name}@example.test`, password}
      return (await gateway.browser().go('/v2/auth/password', {method: 'POST', body})).status
    },
    mails: (recipient = 'otto@example.test') =>
      store.db
        .selectFrom('mails')
        .select(['subject', 'plain', 'html', 'next_try_at_ms'])
        .where('recipient', '=', recipient)
        .orderBy('next_try_at_ms')
        .execute(),
    recipients: async () => {
      const rows = await store.db.selectFrom('mails').select('recipient').distinct().orderBy('recipient').execute()
      return rows.map(({recipient}) => recipient)
    },
  }
}

describe.each(KINDS)('78: with a mail server, on %s', kind => {
  test('each use of a password of the gateway is a letter to all active owners', async () => {
    const house = await openHouse(kind)
    expect(await house.signIn('olga', 'wrong')).toBe(401)
    expect(await house.recipients()).toEqual([])
    expect(await house.signIn('olga')).toBe(200)
    expect(await house.recipients()).toEqual(['olga@example.test', 'otto@example.test'])
    const [mail, ...more] = await house.mails()
    expect(more).toEqual([])
    expect(mail!.subject).toBe('An owner of Organisation signed in with a password')
    const at = new Date(house.clock.ms).toISOString()
    expect(mail!.plain).toContain(
      `olga@example.test signed in to Organisation at ${at}, from 127.0.0.1, with a password`,
    )
    expect(mail!.plain).not.toContain('times')
    expect(Number(mail!.next_try_at_ms)).toBeLessThanOrEqual(house.clock.ms)
    const name = '<b>House</b>\r\nBcc: x@example.test'
    await house.store.write(db => db.updateTable('organisations').set({name}).execute())
    house.clock.ms += MINUTE_MS
    expect(await house.signIn('olga')).toBe(200)
    const [, escaped] = await house.mails()
    expect(escaped!.html).not.toContain('<b>House')
    expect(escaped!.subject).toBe('An owner of <b>House</b> Bcc: x@example.test signed in with a password')
  })

  test('an owner gets one a minute, with the number of uses', async () => {
    const house = await openHouse(kind)
    const statuses = await Promise.all(['olga', 'otto', 'olga', 'otto', 'olga'].map(name => house.signIn(name)))
    expect(statuses).toEqual([200, 200, 200, 200, 200])
    const minute_ms = house.clock.ms - 10_000
    const [, later, ...more] = await house.mails()
    expect(more).toEqual([])
    expect(Number(later!.next_try_at_ms)).toBe(minute_ms + MINUTE_MS)
    expect(later!.plain).toContain('In that minute owners signed in so 5 times.')
    house.clock.ms += MINUTE_MS
    expect(await house.signIn('otto')).toBe(200)
    expect((await house.mails()).map(each => Number(each.next_try_at_ms) >= minute_ms + 2 * MINUTE_MS)).toEqual([
      ...[false, false, true],
    ])
    house.clock.ms += 2 * MINUTE_MS
    expect(await house.signIn('otto')).toBe(200)
    expect(await house.mails()).toHaveLength(4)
  })
})

test('a template that fails shuts no owner out: it is a warn line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-letters-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  // a text of the largest size for each of its repeats: more than a letter may have
  const text = `Subject: x\n${'{{name}}'.repeat(25_000)}`
  writeFileSync(join(folder, 'organisation-password-sign-in-alert.txt'), text)
  const house = await openHouse('sqlite', {...MAIL, EMAIL_TEMPLATES_PATH: folder})
  await house.store.write(db =>
    db
      .updateTable('organisations')
      .set({name: 'n'.repeat(5_000)})
      .execute(),
  )
  expect(await house.signIn('olga')).toBe(200)
  expect(await house.recipients()).toEqual([])
  expect(house.gateway.lines.some(line => line.includes('owners get no mail'))).toBe(true)
})
