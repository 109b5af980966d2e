import {type Argon2Parameters, argon2, randomBytes} from 'node:crypto'
import {isEqual} from './page-proof.ts'

/** OWASP's least for argon2id: 19 MiB, 2 passes, 1 lane. */
const COST = {memory_kib: 19_456, passes: 2, lanes: 1} as const
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Dearer ones than these were never made here, and would take the memory of the machine. */
const MOST = {memory_kib: 262_144, passes: 10, lanes: 8} as const
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{22})\$([\w+/]{43})$/
/** Derivations that wait: each takes its time and 19 MiB, and a stranger may ask for them. */
const MOST_WAITING = 20

export class PasswordQueueFault extends Error {}

let under_way: Promise<unknown> = Promise.resolve()
let waiting = 0

/** The PHC text under which a password is kept: `$argon2id$v=19$m=19456,t=2,p=1$…$…`. */
export async function passwordHash(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const {memory_kib, passes, lanes} = COST
  const hash = await derived(password, salt, COST)
  return `$argon2id$v=19$m=${memory_kib},t=${passes},p=${lanes}$${base64(salt)}$${base64(hash)}`
}

/** True when `phc` is of this password. Text that is none of ours is of no password, in the same time. */
export async function isPassword(phc: string | undefined, password: string): Promise<boolean> {
  const kept = phc === undefined ? undefined : readPhc(phc)
  const {cost, salt, hash} = kept ?? DECOY
  const found = base64(await derived(password, salt, cost))
  return isEqual(found, hash) && kept !== undefined
}

/** Of no password that anyone knows. */
const DECOY: KeptPassword = {cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: base64(Buffer.alloc(HASH_BYTES))}

interface KeptPassword {
  readonly cost: DerivationCost
  readonly salt: Buffer
  readonly hash: string
}

/** The parts of PHC text; undefined for text that is none of ours. */
function readPhc(phc: string): KeptPassword | undefined {
  const [, memory, passes, lanes, salt = '', hash = ''] = PHC.exec(phc) ?? []
  const cost = {memory_kib: Number(memory), passes: Number(passes), lanes: Number(lanes)}
  const is_fitting =
    isFrom(cost.lanes, 1, MOST.lanes) &&
    isFrom(cost.passes, 1, MOST.passes) &&
    isFrom(cost.memory_kib, 8 * cost.lanes, MOST.memory_kib)
  return is_fitting ? {cost, salt: Buffer.from(salt, 'base64'), hash} : undefined
}

/** False for what is no number. */
function isFrom(value: number, least: number, most: number): boolean {
  return value >= least && value <= most
}

interface DerivationCost {
  readonly memory_kib: number
  readonly passes: number
  readonly lanes: number
}

/** One at a time in a process, off the main thread. */
async function derived(password: string, salt: Buffer, {memory_kib, passes, lanes}: DerivationCost): Promise<Buffer> {
  if (waiting >= MOST_WAITING) throw new PasswordQueueFault('too many passwords are checked at once')
  waiting++
  const before = under_way
  const work = before
    .catch(() => undefined)
    .then(() => {
      const parameters: Argon2Parameters = {
        ...{message: password, nonce: salt, tagLength: HASH_BYTES},
        ...{memory: memory_kib, passes, parallelism: lanes},
      }
      return new Promise<Buffer>((resolve, reject) =>
        argon2('argon2id', parameters, (fault, key) => (fault ? reject(fault) : resolve(key))),
      )
    })
  under_way = work
  try {
    return await work
  } finally {
    waiting--
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
