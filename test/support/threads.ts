import type {WorkerOptions} from 'node:worker_threads'
import {inject, vi} from 'vitest'

/** A thread of the gateway starts from its bundle: see `bundle-threads.ts`. */
vi.mock('node:worker_threads', async original => {
  const real = await original<typeof import('node:worker_threads')>()
  const bundles = inject('threads')
  class Worker extends real.Worker {
    constructor(source: string | URL, options?: WorkerOptions) {
      super(bundles[String(source)] ?? source, options)
    }
  }
  return {...real, Worker}
})
