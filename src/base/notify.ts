import {execFile} from 'node:child_process'

/** Messages to a service manager: the service takes calls, reads its settings again, or is stopping. */
export type ServiceState = 'ready' | 'reloading' | 'stopping'

/**
 * Tells systemd of `state` (sd_notify(3)) when `socket`, the value of NOTIFY_SOCKET, is set; does nothing otherwise.
 * Resolves to true once systemd has taken the message; false when there is no service manager or the message could not
 * be sent.
 *
 * The message is a datagram on a unix socket, which Node cannot send, so `systemd-notify` sends it: systemd ships it,
 * and from version 246 it waits until the message is read. The unit needs NotifyAccess=all, as the sender is a child of
 * the service.
 */
export function notifyServiceManager(
  state: ServiceState,
  socket: string | undefined,
  command = 'systemd-notify',
): Promise<boolean> {
  if (!socket) return Promise.resolve(false)
  const options = {env: {NOTIFY_SOCKET: socket, PATH: SYSTEM_PATH}, timeout: 5_000}
  return new Promise(done => execFile(command, [...MESSAGES[state]()], options, error => done(error === null)))
}

const MESSAGES: Readonly<Record<ServiceState, () => readonly string[]>> = {
  ready: () => ['--ready'],
  reloading: () => ['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`],
  stopping: () => ['STOPPING=1'],
}

/** Looked through for the command; never the service's own PATH, which may be empty. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'
