import {createReadStream} from 'node:fs'
import type {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import type {Seal} from '../../base/seal.ts'
import {authorOf, isKeyOf, userOf} from '../../identity/subject.ts'
import {
  ExportChange,
  ExportCreate,
  ExportFileQuery,
  type ExportFilters,
  ExportMade,
  ExportPath,
  ExportQuery,
  ExportSaid,
  ExportSigned,
  ExportView,
} from '../../schema/log-exports.ts'
import {list, listOf} from '../../schema/paging.ts'
import {countLogs} from '../../store/log-counts.ts'
import {
  type ExportScope,
  exportById,
  findExport,
  insertExport,
  listExports,
  updateExport,
} from '../../store/log-exports.ts'
import type {LogExportsTable} from '../../store/tables/analytics.ts'
import {Download, type OperationCall, operation} from '../operation.ts'
import {found, invalid, namedWorkspace, onlyOf, visibilityOf, workspaceOf} from '../tenancy.ts'
import {visibleTo} from '../visible.ts'
import {questionOf} from './jobs.ts'

const common = {tag: 'Logs Export', scopes: ['logs.export'], flag: 'data_exports'} as const
const audit = (action: 'create' | 'update' | 'manage') => ({resource: 'log_export', action})
const NOBODY = '00000000-0000-0000-0000-000000000000'
const SIGNED_MS = 3_600_000
const FILE_TYPE = 'application/x-ndjson'

/** Rows of the log as files of JSON lines, at most 50,000 rows each. */
export const logExports = [
  operation({
    ...common,
    id: 'log_exports.create',
    method: 'POST',
    path: '/logs/exports',
    summary: 'Draft an export of the log',
    audit: audit('create'),
    body: ExportCreate,
    reply: ExportMade,
    handle: created,
  }),
  operation({
    ...common,
    id: 'log_exports.list',
    method: 'GET',
    path: '/logs/exports',
    summary: 'List exports, newest first',
    query: ExportQuery,
    reply: listOf(ExportView),
    handle: listed,
  }),
  operation({
    ...common,
    id: 'log_exports.get',
    method: 'GET',
    path: '/logs/exports/:exportId',
    summary: 'Show an export',
    params: ExportPath,
    reply: ExportView,
    handle: async call => viewOf(await exportOf(call as never)),
  }),
  operation({
    ...common,
    id: 'log_exports.update',
    method: 'PUT',
    path: '/logs/exports/:exportId',
    summary: 'Change a draft',
    audit: audit('update'),
    params: ExportPath,
    body: ExportChange,
    reply: ExportMade,
    handle: updated,
  }),
  operation({
    ...common,
    id: 'log_exports.start',
    method: 'POST',
    path: '/logs/exports/:exportId/start',
    summary: 'Write the file; one that failed or was stopped is begun anew',
    audit: audit('manage'),
    params: ExportPath,
    reply: ExportSaid,
    handle: started,
  }),
  operation({
    ...common,
    id: 'log_exports.cancel',
    method: 'POST',
    path: '/logs/exports/:exportId/cancel',
    summary: 'Stop an export that is under way',
    audit: audit('manage'),
    params: ExportPath,
    reply: ExportSaid,
    handle: cancelled,
  }),
  operation({
    ...common,
    id: 'log_exports.download',
    method: 'GET',
    path: '/logs/exports/:exportId/download',
    summary: 'Get an address of the file, which holds for an hour',
    params: ExportPath,
    reply: ExportSigned,
    handle: signed,
  }),
  operation({
    ...common,
    id: 'log_exports.file',
    method: 'GET',
    path: '/logs/exports/:exportId/file',
    summary: 'Download the file, by the signature of its address alone',
    scopes: null,
    params: ExportPath,
    query: ExportFileQuery,
    reply: ExportSigned,
    file_type: FILE_TYPE,
    handle: call => file(call as never) as never,
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof ExportCreate>,
): Promise<z.input<typeof ExportMade>> {
  const {actor, app, body, db, now} = call
  const workspace = await workspaceOf(call, body.workspace_id ?? body.filters.workspace_slug)
  const row: LogExportsTable = {
    id: newId(),
    organisation_id: actor.organisation_id,
    workspace_id: workspace.id,
    filters: JSON.stringify(body.filters),
    visible: JSON.stringify(visibleTo(actor)),
    requested_data: JSON.stringify([...new Set(body.requested_data)]),
    status: 'draft',
    run: null,
    rows: null,
    error: null,
    created_by: authorOf(actor.subject) ?? NOBODY,
    user_id: userOf(actor.subject),
    created_at: now,
    last_updated_at: now,
  }
  await insertExport(db, row)
  call.auditTarget(row.id, workspace.id)
  return {id: row.id, total: await totalOf(app, db, row), object: 'export'}
}

async function listed(call: OperationCall<undefined, typeof ExportQuery>) {
  const workspace = await namedWorkspace(call, call.query.workspace_id, {archived: true})
  return list(await listExports(call.db, {...scopeOf(call), workspace_id: workspace?.id}, call.query), viewOf)
}

async function updated(
  call: OperationCall<typeof ExportPath, undefined, typeof ExportChange>,
): Promise<z.input<typeof ExportMade>> {
  const {app, body, db, now} = call
  const row = await exportOf(call)
  if (row.status !== 'draft') throw invalid('exportId', `expected a draft; this export is ${row.status}`)
  const named = body.workspace_id ?? body.filters.workspace_slug
  const workspace_id = named === undefined ? row.workspace_id : (await workspaceOf(call, named)).id
  const fields = body.requested_data && {requested_data: JSON.stringify([...new Set(body.requested_data)])}
  const change = {filters: JSON.stringify(body.filters), workspace_id, ...fields, last_updated_at: now}
  await updateExport(db, row.id, change)
  call.auditTarget(row.id, workspace_id)
  return {id: row.id, total: await totalOf(app, db, {...row, ...change}), object: 'export'}
}

async function started(call: OperationCall<typeof ExportPath>): Promise<z.input<typeof ExportSaid>> {
  const {app, db, now} = call
  const row = await exportOf(call)
  if (row.status === 'in_progress' || row.status === 'success')
    throw invalid('exportId', `expected a draft, or an export that failed or was stopped; this one is ${row.status}`)
  const jobs = jobsOf(app)
  const run = newId()
  jobs.reserve(row.id)
  await updateExport(db, row.id, {status: 'in_progress', run, rows: null, error: null, last_updated_at: now})
  call.auditTarget(row.id, row.workspace_id)
  call.afterCommit(() => jobs.start(row.id, run))
  return {message: 'The export was started.', object: 'export'}
}

async function cancelled(call: OperationCall<typeof ExportPath>): Promise<z.input<typeof ExportSaid>> {
  const {db, now} = call
  const row = await exportOf(call)
  if (row.status !== 'in_progress')
    throw invalid('exportId', `expected an export that is under way; this one is ${row.status}`)
  await updateExport(db, row.id, {status: 'stopped', run: null, last_updated_at: now})
  call.auditTarget(row.id, row.workspace_id)
  return {message: 'The export was stopped.', object: 'export'}
}

async function signed(call: OperationCall<typeof ExportPath>): Promise<z.input<typeof ExportSigned>> {
  const {app, now, origin} = call
  const row = await exportOf(call)
  if (row.status !== 'success') throw invalid('exportId', `expected an export that is done; this one is ${row.status}`)
  const signature = sign(app.seal, row, Date.parse(now) + SIGNED_MS)
  return {signed_url: `${origin}/v1/logs/exports/${row.id}/file?signature=${signature}`}
}

/** The address is enough to get the file, for as long as it holds; anything else about it is not found. */
async function file({
  app,
  db,
  now,
  params,
  query,
}: OperationCall<typeof ExportPath, typeof ExportFileQuery>): Promise<Download> {
  const row = await exportById(db, params.exportId)
  const until_ms = row && readSignature(app.seal, row, query.signature)
  const is_open = row?.status === 'success' && until_ms !== undefined && until_ms > Date.parse(now)
  const path = is_open ? await app.exports?.file(row.id) : undefined
  return new Download(createReadStream(found(path, 'export')), FILE_TYPE, `${row!.id}.jsonl`)
}

const placeOf = ({id, organisation_id}: Pick<LogExportsTable, 'id' | 'organisation_id'>) =>
  ({table: 'log_exports', column: 'file', row: id, organisation_id}) as const

/** The end of its time, sealed for this export: no one else can make one. */
function sign(seal: Seal, row: LogExportsTable, until_ms: number): string {
  return seal.close(String(until_ms), placeOf(row)).toString('base64url')
}

function readSignature(seal: Seal, row: LogExportsTable, signature: string): number | undefined {
  try {
    return Number(seal.open(Buffer.from(signature, 'base64url'), placeOf(row)))
  } catch {
    return undefined
  }
}

function jobsOf({exports}: OperationCall['app']) {
  if (!exports) throw new Refusal('route.later', {path: '/v1/logs/exports'})
  return exports
}

/** A user's key knows its user's exports alone; so does who sees in logs what is his own alone. */
function scopeOf({actor}: Pick<OperationCall, 'actor'>): ExportScope {
  const made_by = (isKeyOf(actor.subject, 'workspace-user') ? userOf(actor.subject) : null) ?? onlyOf(actor)
  return {...visibilityOf({actor}), made_by}
}

async function exportOf(
  call: Pick<OperationCall<typeof ExportPath>, 'actor' | 'db' | 'params'>,
): Promise<LogExportsTable> {
  return found(await findExport(call.db, scopeOf(call), call.params.exportId), 'export')
}

/** Rows that the file will have. */
async function totalOf(app: OperationCall['app'], db: OperationCall['db'], row: LogExportsTable): Promise<number> {
  const {filter, limit, offset} = questionOf(row)
  const all = await countLogs(app.reads ?? db, filter)
  return Math.max(0, Math.min(limit, all - offset))
}

function viewOf(row: LogExportsTable): z.input<typeof ExportView> {
  const {visible, run, rows, error, user_id, filters, requested_data, ...fields} = row
  return {
    ...fields,
    filters: JSON.parse(filters) as ExportFilters,
    requested_data: JSON.parse(requested_data) as [],
    description: error ?? (rows === null ? '' : `${rows} ${rows === 1 ? 'row' : 'rows'}`),
    object: 'export',
  }
}
