import {createHash} from 'node:crypto'

/**
 * Numbers from 0 to 1, without 1, that look like chance and are the same for the same `seed`: sfc32 (Chris
 * Doty-Humphrey's small fast counter, 32 bits a word), begun from the SHA-256 of the seed. Not for secrets.
 */
export function seeded(seed: string): () => number {
  const digest = createHash('sha256').update(seed).digest()
  let [a, b, c, counter] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12)]
  const word = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  return () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53
}
