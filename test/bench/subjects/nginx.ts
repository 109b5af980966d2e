import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {freePort, listens, run, start} from '../processes.ts'
import {MissingFault, type Subject, type Surroundings} from './subject.ts'

/** nginx as a plain reverse proxy with one worker: what moving the bytes costs, and nothing else. */
export async function startNginx({folder, upstream, processors}: Surroundings): Promise<Subject> {
  await run(['nginx', '-v']).catch(() => {
    throw new MissingFault('nginx is not installed')
  })
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, new URL(upstream).host, port))
  const program = start(['nginx', '-c', file, '-e', 'stderr'], {processors})
  await listens(port, program)
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  return {id: 'nginx', name: 'nginx', url, headers: {}, pid: program.pid, stop: () => program.stop()}
}

/** Connections are kept on both sides, bodies stay in memory, nothing is logged or held back. */
function configuration(folder: string, upstream: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    kind => `  ${kind}_temp_path ${folder}/nginx-${kind};`,
  )
  return `daemon off;
pid ${folder}/nginx.pid;
worker_processes 1;
error_log stderr crit;
events { worker_connections 2048; }
http {
${temporary.join('\n')}
  access_log off;
  tcp_nodelay on;
  keepalive_timeout 10m;
  keepalive_requests 1000000000;
  client_body_buffer_size 128k;
  upstream provider {
    server ${upstream};
    keepalive 256;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
    }
  }
}
`
}
