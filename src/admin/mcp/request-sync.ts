import {requestMcpSync} from '../../store/mcp-syncs.ts'
import type {OperationCall} from '../operation.ts'

/** Has an integration's server read, in the transaction of the call: at once after it, or by the job. */
export async function requestSync(
  {app, db, now, afterCommit}: Pick<OperationCall, 'app' | 'db' | 'now' | 'afterCommit'>,
  integration_id: string,
): Promise<void> {
  await requestMcpSync(db, integration_id, 'request', Date.parse(now))
  afterCommit(() => app.mcp?.wake(integration_id))
}
