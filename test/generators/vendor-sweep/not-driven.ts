/**
 * Why methods of the clients are not driven: they make no request of their own, or one that other tests make. By
 * client, method and reason.
 */
export type Reasons = Readonly<Record<string, string>>

const STREAM = 'helper: `create` with `stream: true`'
const PARSE = 'helper: `create`, its answer parsed'
const POLL = 'poll: other methods in turn'
const LOCAL = 'helper: makes no request'
const RUN = 'helper: `create` again and again, with tools'
const SOCKET = 'socket: no request of HTTP'
const UPLOAD = 'helper: other methods in turn, with files of the disk'

export const NOT_DRIVEN: Readonly<Record<string, Reasons>> = {
  openai: {
    'chat.completions.parse': PARSE,
    'chat.completions.runTools': RUN,
    'chat.completions.stream': STREAM,
    'files.waitForProcessing': POLL,
    'vectorStores.files.createAndPoll': POLL,
    'vectorStores.files.poll': POLL,
    'vectorStores.files.upload': UPLOAD,
    'vectorStores.files.uploadAndPoll': POLL,
    'vectorStores.fileBatches.createAndPoll': POLL,
    'vectorStores.fileBatches.poll': POLL,
    'vectorStores.fileBatches.uploadAndPoll': POLL,
    'webhooks.unwrap': LOCAL,
    'webhooks.verifySignature': LOCAL,
    'beta.agents.environments.files.prepare': LOCAL,
    'beta.agents.environments.files.upload': UPLOAD,
    'beta.agents.sessions.stream': STREAM,
    'beta.agents.sessions.artifacts.forResult': LOCAL,
    'beta.threads.createAndRunPoll': POLL,
    'beta.threads.createAndRunStream': STREAM,
    'beta.threads.runs.createAndPoll': POLL,
    'beta.threads.runs.createAndStream': STREAM,
    'beta.threads.runs.poll': POLL,
    'beta.threads.runs.stream': STREAM,
    'beta.threads.runs.submitToolOutputsAndPoll': POLL,
    'beta.threads.runs.submitToolOutputsStream': STREAM,
    'responses.parse': PARSE,
    'responses.stream': STREAM,
  },
  anthropic: {
    'messages.parse': PARSE,
    'messages.stream': STREAM,
    'beta.messages.parse': PARSE,
    'beta.messages.stream': STREAM,
    'beta.messages.toolRunner': RUN,
    'beta.messages._toolRunnerThread': RUN,
    'beta.messages.thread': RUN,
    'beta.environments.work.poller': POLL,
    'beta.environments.work.worker': RUN,
    'beta.sessions.events.toolRunner': RUN,
    'beta.webhooks.parseUnverified': LOCAL,
    'beta.webhooks.unwrap': LOCAL,
  },
  google: {'chats.create': LOCAL, 'live.connect': SOCKET, 'live.music.connect': SOCKET},
  'vertex-ai': {
    'chats.create': LOCAL,
    'live.connect': SOCKET,
    'live.music.connect': SOCKET,
    'environments.files.upload':
      'fault of the client: it escapes the slashes of the place (`/upload/v1beta1%2Fprojects%2F...`)',
  },
}

/** Operations that cost, and are charged once their work has ended: the call that begins it costs nothing. */
export const CHARGED_WHEN_ENDED: Readonly<Record<string, string>> = {
  'openai batches.create': 'from the rows of its output file',
}
