export interface RpcBody {
  readonly id: unknown
  readonly result?: Record<string, unknown>
  readonly error?: {readonly code: number; readonly message: string; readonly data?: Record<string, unknown>}
}

/** The message of a reply of either form: the last one of a stream. */
export async function rpcBody(response: Response): Promise<RpcBody> {
  const text = await response.text()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text)
  const last = text.split('\n').findLast(line => line.startsWith('data: '))!
  return JSON.parse(last.slice('data: '.length))
}
