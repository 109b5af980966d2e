import type {Worker} from 'node:worker_threads'
import type {Log} from '../base/log.ts'
import type {RemoveReport} from './remove-objects.ts'
import type {UploadReport} from './upload-bodies.ts'
import type {UploaderCommand, UploaderEvent} from './uploader-messages.ts'

/** The uploader's thread, as its clients see it. */
export type UploaderThread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>

export interface UploaderOptions {
  readonly start: () => UploaderThread
  readonly log: Pick<Log, 'error'>
}

type Answer = Extract<UploaderEvent, {readonly report: unknown}>

/**
 * The main thread's end of the uploader, which carries bodies to the log store: one order after the other. A thread
 * that dies is started again with the next order, and bodies that it had not noted are put again.
 */
export class Uploader {
  readonly #options: UploaderOptions
  #worker: UploaderThread | undefined
  #under_way: PromiseWithResolvers<Answer> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #is_closed = false

  constructor(options: UploaderOptions) {
    this.#options = options
  }

  async upload(packs: readonly string[]): Promise<UploadReport> {
    return (await this.#ask({order: 'upload', packs})).report as UploadReport
  }

  async remove(before_ms: number): Promise<RemoveReport> {
    return (await this.#ask({order: 'remove', before_ms})).report as RemoveReport
  }

  async close(): Promise<void> {
    this.#is_closed = true
    this.#under_way?.reject(new Error('The uploader was closed.'))
    await this.#worker?.terminate()
  }

  #ask(order: UploaderCommand): Promise<Answer> {
    const turn = this.#last.then(() => {
      if (this.#is_closed) throw new Error('The uploader is closed.')
      this.#under_way = Promise.withResolvers()
      this.#worker ??= this.#start()
      this.#worker.postMessage(order)
      return this.#under_way.promise
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  #start(): UploaderThread {
    const worker = this.#options.start()
    worker.on('message', (news: UploaderEvent) => this.#hear(news))
    worker.on('error', fault => this.#options.log.error({fault}, 'the uploader failed'))
    worker.on('exit', () => {
      this.#worker = undefined
      this.#under_way?.reject(new Error('The uploader ended before it had answered.'))
    })
    return worker
  }

  #hear(news: UploaderEvent): void {
    if (news.news === 'unreadable') {
      this.#options.log.error(
        {path: news.path},
        'a file of bodies cannot be read to its end; what stands before was put, and it is left there',
      )
    } else if (news.news === 'failed') this.#under_way?.reject(new Error(news.message))
    else this.#under_way?.resolve(news)
  }
}
