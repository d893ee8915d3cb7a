"""What stands in front of a server whose certificate an authority of the school's own has signed: a proxy that ends TLS on loopback."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PIECE_BYTES = 65_536
SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """`file` is its certificate, as an operator has it; `signed` makes the chain and key of a server."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        own = self._certificate(self._name, self._key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        # From Python 3.13 on an authority must say what its key is for, and a certificate whose key has signed it.
        own = own.add_extension(SIGNS, critical=True)
        own = own.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def signed(self, *hosts: str) -> Path:
        """A file with the certificate for these hosts and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]
        made = self._certificate(x509.Name([]), key).add_extension(x509.SubjectAlternativeName(names), critical=True)
        made = made.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        place = self._folder / f"{hosts[0]}.pem"
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        place.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + private)
        return place

    def _certificate(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        made = x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
        return made.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))


@contextlib.contextmanager
def proxied(base_url: str, certificate: Path) -> Iterator[int]:
    """The port of a proxy that takes TLS and hands on to a server that speaks plain HTTP."""
    host, port = base_url.removeprefix("http://").split(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            with contextlib.suppress(OSError):  # the listening socket was closed
                while True:
                    plain = listening.accept()[0]
                    threading.Thread(target=_serve, args=(plain, context, (host, int(port))), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def _serve(plain: socket.socket, context: ssl.SSLContext, to: tuple[str, int]) -> None:
    """One connection, an answer after each request; whoever refuses the certificate is gone."""
    with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as client, socket.create_connection(to) as server:
        back = threading.Thread(target=_hand_on, args=(server, client), daemon=True)
        back.start()
        _hand_on(client, server)
        back.join()


def _hand_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE_BYTES):
            target.sendall(piece)
        target.shutdown(socket.SHUT_RDWR)
