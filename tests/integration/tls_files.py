"""Authorities, certificates and keys for tests of TLS, made by openssl in a folder."""

import subprocess

CURVE = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


class TlsFiles:
    def __init__(self, folder):
        self.folder = folder

    def pem(self, name):
        return str(self.folder / f"{name}.pem")

    def key(self, name):
        return str(self.folder / f"{name}.key")

    @staticmethod
    def _openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def authority(self, name):
        self._openssl("req", "-x509", "-newkey", *CURVE, "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key(name),
                      "-out", self.pem(name))

    def certificate(self, name, authority, address):
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName=IP:{address}\n")
        self._openssl("req", "-newkey", *CURVE, "-nodes", "-subj", f"/CN={name}", "-keyout", self.key(name), "-out", str(request))
        self._openssl("x509", "-req", "-in", str(request), "-CA", self.pem(authority), "-CAkey", self.key(authority),
                      "-CAcreateserial", "-days", "2", "-extfile", str(extensions), "-out", self.pem(name))

    def server_options(self, name, authority):
        """Options of a redis-server that shows this certificate, and wants one of this authority."""
        return ("--tls-cert-file", self.pem(name), "--tls-key-file", self.key(name), "--tls-ca-cert-file", self.pem(authority))

    def client_option(self, authority, name):
        """The value of redis_tls of a controller that trusts this authority, and shows this certificate."""
        return f"{{ ca: {self.pem(authority)}, certificate: {self.pem(name)}, key: {self.key(name)} }}"
