/** A request of the administration, whose `path` begins with `/v1`, or to a URL of any route. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Beside those of every request; to a URL alone. */
  readonly headers?: Readonly<Record<string, string>>
  /** Takes events that come before the reply, and says of each whether it did. With it, a stream is accepted. */
  readonly onEvent?: (data: unknown) => boolean
}

export interface TransportReply {
  readonly status: number
  /** The reply as JSON; a text where it is none; undefined where it is empty. */
  readonly body: unknown
}

/** A way to a gateway: this machine's data directory, or a URL. */
export interface Transport {
  readonly kind: 'here' | 'there'
  /** The next step where the gateway does not know the key; without it, how keys are given. */
  readonly if_unknown?: string
  send(request: Request): Promise<TransportReply>
  close(): Promise<void>
}
