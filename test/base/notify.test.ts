import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {notifyServiceManager} from '../../src/base/notify.ts'

let folder: string
let sender: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-notify-'))
  sender = join(folder, 'sender')
  writeFileSync(sender, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>${folder}/sent\n`)
  chmodSync(sender, 0o755)
})

afterEach(() => rmSync(folder, {recursive: true}))

test('both states are sent to the socket that was named', async () => {
  expect(await notifyServiceManager('ready', '/run/n', sender)).toBe(true)
  expect(await notifyServiceManager('stopping', '@n', sender)).toBe(true)
  expect(readFileSync(join(folder, 'sent'), 'utf8')).toBe('/run/n --ready\n@n STOPPING=1\n')
})

test.each([undefined, ''])('nobody is told when the socket is %j', async socket => {
  expect(await notifyServiceManager('ready', socket, join(folder, 'absent'))).toBe(false)
})

test('a message that cannot be sent is false, not a failure of the service', async () => {
  expect(await notifyServiceManager('ready', '/run/n', join(folder, 'absent'))).toBe(false)
})
