import {Busboy} from '@fastify/busboy'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {FormFault, readParts} from '../../src/base/multipart-stream.ts'
import {seed} from '../support/ring.ts'

interface Part {
  readonly name: string
  readonly file_name: string | null
  readonly content: string
}

const BOUNDARY = 'a-boundary'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`
/**
 * Content that looks like a boundary, or its beginning, is what a reader may take for one. None begins with one: behind
 * the empty line that ends a head, RFC 2046 lets a boundary follow at once.
 */
const content = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r\n', '--', `\r\n--${BOUNDARY.slice(0, -1)}`, `--${BOUNDARY}`, '\n', '\r', 'text', 'ä'),
      fc.string(),
    ),
    {
      maxLength: 8,
    },
  )
  .map(pieces => pieces.join(''))
  .filter(text => !`\r\n${text}`.includes(`\r\n--${BOUNDARY}`))
const name = fc.string({unit: fc.constantFrom(...'abc_-[]. äß€'), minLength: 1, maxLength: 12})
const part: fc.Arbitrary<Part> = fc.record({name, file_name: fc.option(name), content})

function encode(parts: readonly Part[]): Buffer {
  const written = parts.map(({name, file_name, content}) => {
    const file = file_name === null ? '' : `; filename="${file_name}"\r\ncontent-type: application/octet-stream`
    return `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
  })
  return Buffer.from(`${written.join('')}--${BOUNDARY}--\r\n`)
}

function* cut(bytes: Buffer, piece: number) {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
}

/** The parts of a form; null where it is refused. */
async function ours(bytes: Buffer, piece: number): Promise<readonly Part[] | null> {
  const found: Part[] = []
  try {
    async function* source() {
      yield* cut(bytes, piece)
    }
    for await (const {name, file_name, content} of readParts(source(), TYPE)) {
      const chunks: Buffer[] = []
      for await (const chunk of content) chunks.push(Buffer.from(chunk))
      found.push({name, file_name, content: Buffer.concat(chunks).toString()})
    }
    return found
  } catch (fault) {
    if (fault instanceof FormFault) return null
    throw fault
  }
}

function theirs(bytes: Buffer, piece: number): Promise<readonly Part[] | null> {
  return new Promise(resolve => {
    const found: Part[] = []
    const reader = new Busboy({
      headers: {'content-type': TYPE},
      isPartAFile: (_name, _type, file_name) => file_name !== undefined,
      preservePath: true,
    })
    reader.on('field', (name, content) => void found.push({name, file_name: null, content}))
    reader.on('file', (name, stream, file_name) => {
      const chunks: Buffer[] = []
      const at = found.length
      found.push({name, file_name, content: ''})
      stream.on('data', (chunk: Buffer) => void chunks.push(Buffer.from(chunk)))
      stream.on('error', () => resolve(null))
      stream.on('end', () => {
        found[at] = {name, file_name, content: Buffer.concat(chunks).toString()}
      })
    })
    reader.on('error', () => resolve(null))
    reader.on('finish', () => resolve(found))
    for (const chunk of cut(bytes, piece)) reader.write(chunk)
    reader.end()
  })
}

test('a form is read as busboy reads it, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, {minLength: 1, maxLength: 5}),
      fc.integer({min: 1, max: 80}),
      async (parts, piece) => {
        const bytes = encode(parts)
        const found = await ours(bytes, piece)
        expect(found).toEqual(parts)
        expect(found).toEqual(await theirs(bytes, piece))
      },
    ),
    {seed: seed(), numRuns: 300},
  )
})

test('a form that is cut off is refused by both', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, {minLength: 1, maxLength: 3}), fc.nat(), async (parts, where) => {
      const whole = encode(parts)
      const bytes = whole.subarray(0, where % (whole.length - 4)) // the last line end is not needed
      expect(await ours(bytes, 50)).toBeNull()
      expect(await theirs(bytes, 50)).toBeNull()
    }),
    {seed: seed(), numRuns: 200},
  )
})
