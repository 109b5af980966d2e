import {newId} from '../../base/ids.ts'
import {bearer, optional} from '../auth.ts'
import type {Provider} from '../provider.ts'
import {EchoDispatcher} from './dispatcher.ts'

let dispatcher: EchoDispatcher | undefined

/** A provider that answers in this process with an echo, so that a gateway can be tried before it has a provider. */
export const demo: Provider = {
  slug: 'demo',
  name: 'Demo (echo)',
  base_url: 'https://demo.invalid/v1', // never called; RFC 2606 keeps the name free
  auth: optional(bearer),
  dialect: 'openai',
  available: true,
  endpoints: ['chatComplete', 'complete', 'embed', 'createModelResponse', 'listModels'],
  stream_usage: true,
  transport: () => {
    dispatcher ??= new EchoDispatcher(() => ({id: newId(), created: Math.floor(Date.now() / 1000)}))
    return dispatcher
  },
}
