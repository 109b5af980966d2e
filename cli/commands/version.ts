import type {Command} from 'commander'
import {isExecutable, version} from '../../src/base/runtime.ts'
import {leaf} from '../options.ts'
import {openSession} from '../session.ts'

/** `gateway version`. bin/gateway.ts answers the plain forms by itself, before anything is loaded. */
export function versionCommand(): Command {
  return leaf('version', 'Say the version', ['gateway version', 'gateway version --json']).action(
    async (_: object, self: Command) => {
      const {print} = await openSession(self)
      const {versions, platform, arch} = process
      if (print.json) print.json_reply({version, node: versions.node, platform, arch, executable: isExecutable})
      else print.line(version)
    },
  )
}
