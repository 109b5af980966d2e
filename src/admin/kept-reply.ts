import {createHash} from 'node:crypto'
import {promisify} from 'node:util'
import {gzip} from 'node:zlib'
import type {FastifyReply, FastifyRequest} from 'fastify'

/**
 * A large answer that is the same for everybody: made and compressed once, and served to all from these bytes, however
 * slowly they read.
 */
export class KeptReply {
  readonly bytes: Buffer
  readonly zipped: Buffer
  readonly etag: string

  private constructor(bytes: Buffer, zipped: Buffer) {
    this.bytes = bytes
    this.zipped = zipped
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  }

  static async of(bytes: Buffer): Promise<KeptReply> {
    return new KeptReply(bytes, await promisify(gzip)(bytes))
  }

  /** Sends it, compressed to who takes that; 304 to who has it. */
  send(type: string, request: FastifyRequest, reply: FastifyReply) {
    reply.headers({etag: this.etag, 'cache-control': 'no-cache', vary: 'accept-encoding'}).type(type)
    if (request.headers['if-none-match']?.includes(this.etag)) return reply.code(304).send()
    if (!takesGzip(String(request.headers['accept-encoding'] ?? ''))) return reply.send(this.bytes)
    return reply.header('content-encoding', 'gzip').send(this.zipped)
  }
}

function takesGzip(accepted: string): boolean {
  return /(?:^|[,\s])(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted)
}
