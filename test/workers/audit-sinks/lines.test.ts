import {describe, expect, test} from 'vitest'
import {KINDS} from '../../support/stores.ts'
import {readCef, readSyslog, startSyslog} from '../../support/syslog-server.ts'
import {AT, recorded, senderFor, storeFor} from './support.ts'

const START = '0'.repeat(64)
/** Characters with a meaning in one of the formats, or to a terminal. */
const HOSTILE = 'a|b=c\\d"e]f\ng\rh\u001b[2J\u2028ü🚀\ud800 end=1|'

describe.each(KINDS)('lines of the audit log on %s', kind => {
  test('TL30 each row is a message of RFC 5424 over TLS, with its facts and the chain of the row before', async () => {
    const {store} = await storeFor(kind)
    const server = await startSyslog()
    await recorded(store, 'one')
    await recorded(store, 'two', {status: 403, action: 'delete', changes: '[{"field":"limits"},{"field":"name"}]'})
    await recorded(store, 'blue', {organisation_id: 'blue', actor_type: 'system', actor_id: null, client_ip: null})
    const {turn, counts} = senderFor(store, `syslog+tls://localhost:${server.port}`)
    await turn()
    const messages = server.messages.map(readSyslog)
    const of = (organisation: string) => messages.filter(({parameters}) => parameters.organisation === organisation)
    const [one, two] = of('red')
    expect(one).toMatchObject({priority: 13 * 8 + 6, time: AT, host: 'host.example', app: 'gate_way', id: 'create'})
    expect(one).toMatchObject({process: '-', element: 'audit@32473', text: 'create config c-1 "mine" by user u-1: 200'})
    expect(one!.parameters).toMatchObject({
      ...{id: 'one', workspace: 'w-1', actorType: 'user', actor: 'u-1', resource: 'config', resourceId: 'c-1'},
      ...{name: 'mine', result: 'success', status: '200', method: 'POST', uri: '/v1/configs', requestId: 'r-one'},
      ...{clientIp: '192.0.2.7', sequence: '1', previousChain: START},
    })
    expect(two).toMatchObject({priority: 13 * 8 + 4, id: 'delete'})
    expect(two!.parameters).toMatchObject({result: 'failure', changedFields: 'limits,name', sequence: '2'})
    expect(two!.parameters.previousChain).toBe(one!.parameters.chain)
    expect(of('blue').map(({parameters}) => parameters.previousChain)).toEqual([START])
    const chains = await store.db.selectFrom('audit_logs').select(['id', 'chain']).execute()
    for (const {parameters} of messages)
      expect(chains.find(({id}) => id === parameters.id)!.chain).toBe(parameters.chain)
    expect(counts).toMatchObject({rows: 3, failures: 0})
    await turn()
    expect(server.messages).toHaveLength(3)
  })

  test('a row that is missing shows: the line behind it says so', async () => {
    const {store} = await storeFor(kind)
    const server = await startSyslog()
    for (const id of ['one', 'two', 'three']) await recorded(store, id)
    const {turn} = senderFor(store, `syslog+tls://localhost:${server.port}`)
    const all = store.db.selectFrom.bind(store.db)
    // the table refuses to lose a row; this reads as if it had
    Object.assign(store.db, {
      selectFrom: (table: never) =>
        table === 'audit_logs' ? (all('audit_logs').where('id', '<>', 'two') as never) : all(table),
    })
    await turn()
    const found = server.messages.map(message => readSyslog(message).parameters)
    expect(found.map(({sequence}) => sequence)).toEqual(['1', '3'])
    expect(found[1]!.previousChain).toBe('missing')
  })
})

test('TL30 names with the marks of each format survive in it, on one line', async () => {
  const {store} = await storeFor('sqlite')
  const server = await startSyslog()
  const more = {request_body: JSON.stringify({name: HOSTILE}), uri: '/v1/a|b=c\\', client_ip: '2001:db8::1'}
  await recorded(store, 'one', more)
  for (const format of ['cef', 'json', 'rfc5424']) {
    const {turn} = senderFor(store, `syslog+tls://127.0.0.1:${server.port}?format=${format}`)
    await store.write(db => db.deleteFrom('audit_marks').execute())
    await turn()
  }
  const [cef, json, plain] = server.messages.map(readSyslog)
  for (const message of server.messages) expect(message).not.toMatch(/[\x00-\x1f\x7f\u2028]/)
  expect([cef!.element, json!.element]).toEqual([null, null])
  const {header, fields} = readCef(cef!.text)
  expect(header.slice(0, 2).concat(header.slice(3))).toEqual([
    'Gateway',
    'Gateway',
    'config:create',
    'create config',
    '3',
  ])
  const shown = HOSTILE.toWellFormed().replace(/[\u001b\u2028]/g, ' ')
  expect(fields).toMatchObject({
    ...{flexString1: shown, flexString1Label: 'name', request: '/v1/a|b=c\\', c6a2: '2001:db8::1', suid: 'u-1'},
    ...{cs6: START, cs6Label: 'previousChain', act: 'create', outcome: 'success', rt: String(Date.parse(AT))},
  })
  expect(fields.src).toBeUndefined()
  expect(JSON.parse(json!.text)).toMatchObject({
    ...{id: 'one', resource_name: HOSTILE.toWellFormed(), uri: '/v1/a|b=c\\', sequence: 1, previous_chain: START},
  })
  expect(plain!.parameters.name).toBe(HOSTILE.toWellFormed().replace(/[\n\r\u001b\u2028]/g, ' '))
})

test('no line is longer than what every receiver takes, and none has a value of a body', async () => {
  const {store} = await storeFor('sqlite')
  const server = await startSyslog({secure: false})
  const long = '"\\]|=ü'.repeat(20_000)
  const changes = JSON.stringify(
    Array.from({length: 400}, (_, at) => ({field: `field ${at}`, before: 'VALUE', after: 'VALUE'})),
  )
  const ids = {workspace_id: long, actor_id: long, resource_id: long, request_id: long, client_ip: long, uri: long}
  await recorded(store, 'long', {...ids, request_body: JSON.stringify({name: long, system: 'VALUE'}), changes})
  await recorded(store, 'named', {...ids, request_body: JSON.stringify({name: long.slice(0, 9000), system: 'VALUE'})})
  for (const format of ['cef', 'json', 'rfc5424']) {
    const {turn} = senderFor(store, `syslog+tcp://127.0.0.1:${server.port}?format=${format}`)
    await store.write(db => db.deleteFrom('audit_marks').execute())
    await turn()
  }
  expect(server.messages).toHaveLength(6)
  for (const message of server.messages) {
    expect(Buffer.byteLength(message)).toBeLessThan(8192)
    expect(message).not.toContain('VALUE')
  }
})
