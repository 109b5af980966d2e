import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {readLetters} from '../../../src/ports/mail/mail-templates.ts'
import {insertUser, joinOrganisation} from '../../../src/store/users.ts'
import {pinMails} from '../../../src/workers/mcp-pin-mail.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {START_MS, SyncTests} from '../../support/mcp/syncs.ts'
import {KINDS} from '../../support/stores.ts'

const AT = '2026-03-04T00:00:00.000Z'
const tool = (name: string, description = `Does ${name}.`) => ({name, description, inputSchema: {type: 'object'}})

describe.each(KINDS)('mail of changed definitions, on %s', kind => {
  let on: SyncTests
  let server: RawFixture
  let tools: readonly unknown[]
  beforeEach(async () => {
    tools = [tool('a'), tool('b')]
    server = await openRaw({
      'tools/list': answer => answer.result({tools}),
      'resources/list': answer => answer.result({resources: []}),
      'resources/templates/list': answer => answer.result({resourceTemplates: []}),
    })
    on = await SyncTests.open(kind)
    for (const [name, role] of [
      ['ada', 'admin'],
      ['mia', 'member'],
    ] as const) {
      const times = {created_at: AT, last_updated_at: AT}
      const user = {id: name, email: `${name}@example.test`, first_name: null, last_name: null}
      await insertUser(on.db, {...user, ...times})
      const member = {organisation_id: 'o', user_id: name, role, status: 'active', role_source: 'local'} as const
      await joinOrganisation(on.db, {...member, ...times})
    }
  }, 30_000)
  afterEach(async () => {
    await on.close()
    await server.close()
  })

  const mailed = () =>
    on.db
      .selectFrom('mails')
      .select(['recipient', 'subject', 'plain', 'html', 'next_try_at_ms'])
      .orderBy('next_try_at_ms')
      .execute()
  const alert = (folder?: string) =>
    pinMails({write: readLetters(folder, {company_name: 'Example'}), log: {warn: () => undefined} as never})

  test('one mail for one change, to the admins, and none at the syncs that follow', async () => {
    await on.integration(server.url)
    const syncs = on.syncs({alert: alert()})
    await on.sync(syncs)
    await on.sync(syncs)
    expect(await mailed()).toEqual([])
    tools = [tool('a', 'Does more.'), tool('b')]
    for (let times = 0; times < 3; times++) await on.sync(syncs)
    const mails = await mailed()
    expect(mails.map(({recipient}) => recipient)).toEqual(['ada@example.test'])
    expect(mails[0]!.subject).toBe('The MCP integration i changed what its tools say')
    expect(mails[0]!.plain).toContain('otherwise than approved: a.')
    expect(mails[0]!.plain).not.toMatch(/hidden and refused|within the hour/)
  })

  test('with enforce it says what is hidden; a flood is one mail more at the end of the hour', async () => {
    await on.integration(server.url, {configurations: '{"tool_pinning":"enforce"}'})
    const syncs = on.syncs({alert: alert()})
    await on.sync(syncs)
    const start_ms = START_MS
    for (let number = 0; number < 4; number++) {
      tools = [...tools, tool(`<b>${number}\n</b>`)]
      await on.sync(syncs)
    }
    const mails = await mailed()
    expect(mails.map(({next_try_at_ms}) => Number(next_try_at_ms))).toEqual([
      start_ms,
      Math.floor(start_ms / 3_600_000) * 3_600_000 + 3_600_000,
    ])
    expect(mails[0]!.plain).toContain('hidden and refused')
    expect(mails[0]!.html).not.toContain('<b>0')
    expect(mails[1]!.plain).toContain('within the hour')
  })

  test('no mail server: rows of the audit log alone', async () => {
    await on.integration(server.url)
    const syncs = on.syncs({alert: pinMails({write: undefined, log: {warn: () => undefined} as never})})
    await on.sync(syncs)
    tools = [tool('a', 'Does more.')]
    await on.sync(syncs)
    expect([await mailed(), await on.audited()]).toEqual([[], ['definition-change a']])
  })
})
