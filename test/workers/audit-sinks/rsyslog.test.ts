import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {type AddressInfo, connect, createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {readCef} from '../../support/syslog-server.ts'
import {CERTIFICATE, PRIVATE_KEY} from '../../support/tls.ts'
import {recorded, senderFor, storeFor} from './support.ts'

const PROGRAM = '/usr/sbin/rsyslogd'
const DRIVERS = ['gtls', 'ossl'].filter(
  name => existsSync(PROGRAM) && existsSync(`/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_${name}.so`),
)

interface Parsed {
  readonly pri: string
  readonly timereported: string
  readonly hostname: string
  readonly programname: string
  readonly msgid: string
  readonly msg: string
  readonly '$!': {readonly 'rfc5424-sd'?: Readonly<Record<string, Readonly<Record<string, string>>>>}
}

/** Debian's rsyslog in the foreground, which writes the parts that it reads in each message. */
async function startRsyslog(driver: string) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-rsyslog-'))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('cert.pem'), CERTIFICATE)
  writeFileSync(at('key.pem'), PRIVATE_KEY)
  const port = await freePort()
  const files = Object.entries({CA: 'cert.pem', Cert: 'cert.pem', Key: 'key.pem'})
    .map(([name, file]) => `defaultNetstreamDriver${name}File="${at(file)}"`)
    .join(' ')
  writeFileSync(
    at('rsyslog.conf'),
    [
      `global(workDirectory="${folder}" ${files} parser.escapeControlCharactersOnReceive="on")`,
      `module(load="imtcp" streamDriver.name="${driver}" streamDriver.mode="1" streamDriver.authMode="anon")`,
      'module(load="mmpstrucdata")',
      `input(type="imtcp" port="${port}" address="127.0.0.1")`,
      'template(name="parts" type="string" string="%jsonmesg%\\n")',
      'action(type="mmpstrucdata" sd_name.lowercase="off")',
      `action(type="omfile" file="${at('out')}" template="parts")`,
      '',
    ].join('\n'),
  )
  let child: ChildProcess
  const begin = async () => {
    child = spawn(PROGRAM, ['-n', '-f', at('rsyslog.conf'), '-i', at('pid')], {stdio: 'ignore'})
    await expect.poll(() => isOpen(port), {timeout: 20_000}).toBe(true)
  }
  const end = async (signal: NodeJS.Signals) => {
    const gone = once(child, 'exit')
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await gone
    }
  }
  await begin()
  onTestFinished(async () => {
    await end('SIGKILL')
    rmSync(folder, {recursive: true, force: true})
  })
  const parsed = (): Parsed[] =>
    existsSync(at('out'))
      ? readFileSync(at('out'), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line) as Parsed)
          .filter(({programname}) => programname === 'gate_way')
      : []
  return {port, parsed, begin, end}
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const {port} = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function isOpen(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

describe.skipIf(DRIVERS.length === 0)('the audit log at rsyslog', () => {
  test.each(DRIVERS)('TL30 rsyslog reads every line over TLS (%s), names with marks as well', async driver => {
    const {store} = await storeFor('sqlite')
    const {port, parsed} = await startRsyslog(driver)
    const name = 'a|b=c\\d"e]f ü🚀 end=1|'
    for (let at = 0; at < 250; at++)
      await recorded(store, `row ${at}`, {request_body: JSON.stringify({name}), action: at % 2 ? 'update' : 'create'})
    const {turn, counts} = senderFor(store, `syslog+tls://localhost:${port}`)
    await turn()
    expect(counts).toMatchObject({rows: 250, failures: 0})
    await expect.poll(() => parsed().length, {timeout: 20_000}).toBe(250)
    const rows = parsed()
    for (const [at, row] of rows.entries()) {
      expect(row).toMatchObject({pri: '110', hostname: 'host.example', msgid: at % 2 ? 'update' : 'create'})
      const facts = row['$!']['rfc5424-sd']!['audit@32473']!
      expect(facts).toMatchObject({id: `row ${at}`, name, sequence: String(at + 1), result: 'success'})
      expect(facts.previousChain).toBe(
        at === 0 ? '0'.repeat(64) : rows[at - 1]!['$!']['rfc5424-sd']!['audit@32473']!.chain,
      )
    }
  })

  test('TL30 a name with | and = survives in CEF', async () => {
    const {store} = await storeFor('sqlite')
    const {port, parsed} = await startRsyslog(DRIVERS[0]!)
    const name = 'a|b=c\\d\ne ü end=1|'
    await recorded(store, 'one', {request_body: JSON.stringify({name})})
    await senderFor(store, `syslog+tls://localhost:${port}?format=cef`).turn()
    await expect.poll(() => parsed().length, {timeout: 20_000}).toBe(1)
    const {header, fields} = readCef(parsed()[0]!.msg.trim())
    expect(header[3]).toBe('config:create')
    expect(fields).toMatchObject({flexString1: name, externalId: 'one'})
  })

  test('TL30 rsyslog killed and started again has every row', async () => {
    const {store} = await storeFor('sqlite')
    const {port, parsed, begin, end} = await startRsyslog(DRIVERS[0]!)
    const {turn, counts} = senderFor(store, `syslog+tls://localhost:${port}`)
    await recorded(store, 'one')
    await turn()
    await expect.poll(() => parsed().length, {timeout: 20_000}).toBe(1)
    await end('SIGKILL')
    await recorded(store, 'two')
    await turn()
    expect(counts).toMatchObject({rows: 1, failures: 1})
    await begin()
    await turn()
    await expect
      .poll(() => parsed().map(row => row['$!']['rfc5424-sd']!['audit@32473']!.id), {timeout: 20_000})
      .toEqual(['one', 'two'])
  })
})
