import {createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes} from 'node:crypto'

/** The place of a sealed value: it opens only there (core rule 22). */
export interface SealPlace {
  readonly table: string
  readonly column: string
  readonly row: string
  readonly organisation_id: string
}

/** Seals secrets at rest with AES-256-GCM. Layout: version 1, key id 4, nonce 12, tag 16, ciphertext. */
export interface Seal {
  /** First 8 hex digits of the key's SHA-256: says which key sealed a value, and nothing of the key. */
  readonly key_id: string
  close(plain: string, place: SealPlace): Buffer
  /** The secret; throws `SealFault` when it was sealed by another key, for another place, or altered. */
  open(sealed: Uint8Array, place: SealPlace): string
  /** A key for another purpose, 32 bytes, the same in every process that has this one; it says nothing of this one. */
  derived(purpose: string): Buffer
}

export class SealFault extends Error {}

const VERSION = 1
const HEAD = 5
const NONCE = 12
const TAG = 16

export function createSeal(key: Buffer): Seal {
  if (key.length !== 32) throw new SealFault('The sealing key must be 32 bytes.')
  const id = createHash('sha256').update(key).digest().subarray(0, 4)
  const head = Buffer.concat([Buffer.of(VERSION), id])
  return {
    key_id: id.toString('hex'),
    derived: purpose => Buffer.from(hkdfSync('sha256', key, '', `gateway ${purpose}`, 32)),
    close(plain, place) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(head, place))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([head, nonce, cipher.getAuthTag(), body])
    },
    open(value, place) {
      const sealed = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      if (sealed.length < HEAD + NONCE + TAG || sealed[0] !== VERSION)
        throw new SealFault('A sealed value has an unknown form.')
      if (!sealed.subarray(1, HEAD).equals(id)) {
        throw new SealFault(
          `A secret was sealed with the key ${sealed.toString('hex', 1, HEAD)}, but the key given is ${id.toString('hex')}.`,
        )
      }
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(HEAD, HEAD + NONCE)).setAAD(
        bound(head, place),
      )
      decipher.setAuthTag(sealed.subarray(HEAD + NONCE, HEAD + NONCE + TAG))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(HEAD + NONCE + TAG)), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new SealFault(`The secret in ${place.table}.${place.column} was altered or moved.`, {cause})
      }
    },
  }
}

function bound(head: Buffer, {table, column, row, organisation_id}: SealPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([table, column, row, organisation_id]))])
}
