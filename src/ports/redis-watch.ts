import {Redis} from 'iovalkey'

export interface RedisWatch {
  /** Why Redis is out of reach; null while it answers. */
  readonly silence: string | null
  close(): void
}

export interface RedisWatchOptions {
  readonly url: string
  /** After so long without an answer the connection is given up. */
  readonly silence_ms: number
  readonly every_ms?: number
}

const EVERY_MS = 1_000

/**
 * Asks Redis once a second whether it is there, over a connection of its own: for /readyz and a metric, since calls
 * that nothing shares ask it nothing.
 */
export function watchRedis({url, silence_ms, every_ms = EVERY_MS}: RedisWatchOptions): RedisWatch {
  let silence: string | null = null
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: silence_ms,
    commandTimeout: Math.min(silence_ms, every_ms),
    socketTimeout: silence_ms,
    retryStrategy: () => every_ms,
  })
  redis.on('error', () => undefined) // the question that fails tells
  const timer = setInterval(ask, every_ms).unref()

  async function ask() {
    try {
      await redis.ping()
      silence = null
    } catch (fault) {
      silence =
        fault instanceof Error && /NOAUTH|WRONGPASS/.test(fault.message) ? 'it refuses the password' : 'no answer came'
    }
  }

  return {
    get silence() {
      return silence
    },
    close() {
      clearInterval(timer)
      redis.disconnect()
    },
  }
}
