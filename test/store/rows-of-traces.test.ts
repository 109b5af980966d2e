import {expect, onTestFinished, test} from 'vitest'
import type {McpLogDetail} from '../../src/schema/records.ts'
import {rowsOfTraces} from '../../src/store/rows-of-traces.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS, testStore} from '../support/stores.ts'

const MCP: McpLogDetail = {
  ...{server_id: 's', method: 'tools/call', name: 'weather', client_protocol: '2025-06-18', client_name: null},
  ...{auth: 'api_key', outcome: 'ok', rpc_code: null, rounds: 1, upstream_protocol: null, upstream_transport: null},
}

test.each(KINDS)('on %s, rows of a trace are those of its workspace, and no message to an MCP server', async kind => {
  const made = await testStore(kind)
  onTestFinished(() => made.close())
  const {db} = made.store
  const of = {trace_id: 't-1', parent_span_id: 'p-1'}
  await insertLog(db, {id: '01', ...of, workspace_id: 'w-1'})
  await insertLog(db, {id: '02', ...of, workspace_id: 'w-2'})
  await insertLog(db, {id: '03', ...of, workspace_id: 'w-1', trace_id: 't-2'})
  await insertLog(db, {id: '04', ...of, workspace_id: 'w-1', mcp: MCP})
  await insertLog(db, {id: '05', ...of, workspace_id: 'w-1', endpoint: 'ingestTelemetry'})
  const found = await rowsOfTraces(db, 'w-1', ['t-1', 't-3'])
  expect(found.map(({call_id, span}) => [call_id, span]).toSorted()).toEqual([
    ['call-01', null],
    ['call-05', {operation: null, is_charged: false}],
  ])
})
