import {watch} from 'node:fs'

export interface FileWatch {
  /** The file was written to. */
  readonly onWritten: () => void
  /** Nothing more is known of the file. */
  readonly onLost: () => void
}

/**
 * Has the kernel report writes to a file by any process of this machine; what it gives ends that. Undefined where that
 * is not possible: the file is missing, or the system has no watches left. Only on Linux, where the file is not opened
 * for it (inotify(7)): a descriptor of a file of SQLite's that is closed drops its locks (core rule 3).
 */
export function watchFile(path: string, {onWritten, onLost}: FileWatch): (() => void) | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const watcher = watch(path, {persistent: false})
    const lost = () => {
      watcher.close()
      onLost()
    }
    watcher.on('error', lost)
    watcher.on('change', what => (what === 'change' ? onWritten() : lost()))
    return () => watcher.close()
  } catch {
    return undefined
  }
}
