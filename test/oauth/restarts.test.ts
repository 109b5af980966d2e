import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {freePort} from '../support/sign-in.ts'
import {openOAuthHouse} from './house.ts'

test('an open page, a code and tokens are good in the process that comes after', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-oauth-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const port = await freePort()
  const env = {PORT: String(port), CONTROL_PLANE_URL: `http://127.0.0.1:${port}`}
  const house = await openOAuthHouse('sqlite', env, {folder})
  await house.server('docs')
  const {browser} = await house.person('mia', 'member', [house.workspace.id])
  const client = await house.client()
  const held = await house.tokens(browser, client)
  const code = await house.code(browser, client)
  const page = await house.asked(browser, client, {prompt: 'consent'})
  await house.gateway.close()
  const next = await startGateway(env, {folder, now: () => house.clock.ms})
  onTestFinished(() => next.close())
  expect((await house.decide(browser, page)).location).toMatch(/code=/)
  expect((await house.exchange(client, code)).status).toBe(200)
  expect(await house.isLive(held.access_token)).toBe(true)
  expect((await house.refresh(client, held.refresh_token)).status).toBe(200)
  // and what was used before is used up
  expect((await house.decide(browser, page)).status).toBe(400)
  expect((await house.exchange(client, code)).status).toBe(400)
}, 60_000)
