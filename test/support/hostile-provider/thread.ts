import {parentPort} from 'node:worker_threads'
import {hostileServer} from './server.ts'

/**
 * The thread that the provider has for itself, so that its work is not taken for the gateway's. Any message asks it to
 * close.
 */
const server = await hostileServer()
parentPort!.postMessage({port: server.port})
parentPort!.once('message', async () => {
  await server.close()
  parentPort!.postMessage({played: [...server.played]})
})
