/**
 * True when no call may go to `port`, trusted host or not: other protocols use it, which an HTTP request could be made
 * to speak.
 */
export function isRiskyPort(port: number): boolean {
  return RISKY.has(port)
}

// biome-ignore format: a table is read by its lines
const RISKY: ReadonlySet<number> = new Set([
  // echo to supdup, FTP, SSH, Telnet, SMTP, DNS
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
  // mail, RPC, NetBIOS, SNMP, BGP
  101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179,
  // LDAP, SMB, r-services, rsync
  389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 873,
  // databases, NFS, Docker, etcd
  989, 990, 993, 995, 1080, 1433, 1434, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380,
  // MySQL, RDP, SIP, PostgreSQL, AMQP, VNC, WinRM
  3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5671, 5672, 5900, 5984, 5985, 5986,
  // X11, Redis, Kubernetes, IRC, Kafka
  6000, 6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9100, 9200, 9300,
  10080, 10250, 10255, 11211, 27017, 27018, 27019, // kubelet, memcached, MongoDB
])
