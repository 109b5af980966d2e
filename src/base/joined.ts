import {setImmediate} from 'node:timers/promises'

/** So much is copied at once before others have their turn. */
const COPIED_AT_ONCE_BYTES = 4 << 20

/** Parts in one piece; where there is much to copy, others have their turn meanwhile. */
export async function joined(parts: readonly Buffer[]): Promise<Buffer> {
  if (parts.length === 1) return parts[0]!
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= COPIED_AT_ONCE_BYTES) return Buffer.concat(parts, length)
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  let pause_at = COPIED_AT_ONCE_BYTES
  for (const part of parts) {
    at += part.copy(whole, at)
    if (at < pause_at) continue
    pause_at += COPIED_AT_ONCE_BYTES
    await setImmediate()
  }
  return whole
}
